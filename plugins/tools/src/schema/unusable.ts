/** Why a schema cannot be used. Thrown and caught inside this folder. */
export class Unusable extends Error {}
