/** What the process ends with when the command has run. */
export const exitCode: number
