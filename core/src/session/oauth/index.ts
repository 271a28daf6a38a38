import type { OAuthSteps } from '../../types/index.ts'

let loading: Promise<OAuthSteps> | undefined

/** The steps of signing in, over the official SDK, which is loaded at the first call and kept for the process. */
export function loadOAuth(): Promise<OAuthSteps> {
  loading ??= load()
  return loading
}

async function load(): Promise<OAuthSteps> {
  const [module, { stepsOver }] = await Promise.all([
    import('@modelcontextprotocol/client'),
    import('./steps.ts'),
  ])
  return stepsOver(module)
}
