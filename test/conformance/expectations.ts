/** What is known to fail, and why it is to. */
export interface Expectation {
  readonly reason: string
  /** The checks that fail; every other one has to hold. All of the scenario's when absent. */
  readonly checks?: readonly string[]
}

const NO_PERSON = 'an optional extension for clients that nobody sits at; Tapline signs people in'
const NO_PROOF = 'an optional extension; tokens are shared with pi, which sends them as bearer tokens'

/** By scenario, in every revision that has it. One that no longer fails is reported: it belongs out of here. */
export const EXPECTED: Readonly<Record<string, Expectation>> = {
  'auth/client-credentials-jwt': { reason: NO_PERSON },
  'auth/client-credentials-basic': { reason: NO_PERSON },
  'auth/wif-jwt-bearer': { reason: NO_PERSON },
  'auth/enterprise-managed-authorization': {
    reason: 'an optional extension for the identity providers of companies',
  },
  'auth/dpop': { reason: NO_PROOF },
  'auth/dpop-nonce': { reason: NO_PROOF },
}
