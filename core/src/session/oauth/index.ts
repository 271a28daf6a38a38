import type { OAuthSteps } from '../../types/index.ts'
import { stepsOver } from './steps.ts'

let loading: Promise<OAuthSteps> | undefined

/** The steps of signing in, over the official SDK, which is loaded at the first call and kept for the process. */
export function loadOAuth(): Promise<OAuthSteps> {
  loading ??= import('@modelcontextprotocol/client').then((module) => stepsOver(module))
  return loading
}
