import type { ExtensionAPI, ExtensionContext } from '@earendil-works/pi-coding-agent'
import type { HostPaths } from '@tapline/core'
import { isModelProvider, piCredentialStore, type TaplineOptions } from '@tapline/headless'
import { createElicitation } from './elicitation/index.ts'

/** What a session of pi knows that Tapline asks for. */
export function fromPi(
  pi: ExtensionAPI,
  ctx: ExtensionContext,
  { agentDir }: HostPaths,
): Pick<
  TaplineOptions,
  | 'projectTrusted'
  | 'registered'
  | 'credentials'
  | 'isModelProvider'
  | 'providerToken'
  | 'sessionId'
  | 'elicit'
> {
  // The context is that of a session, and throws when it has ended.
  const { modelRegistry } = ctx
  return {
    projectTrusted: ctx.isProjectTrusted(),
    ...createElicitation(pi, ctx),
    sessionId: ctx.sessionManager.getSessionId(),
    registered: () =>
      pi.getMcpServers().map(({ name, config, extensionPath }) => ({ name, config, by: extensionPath })),
    credentials: [piCredentialStore(agentDir, process.env)],
    isModelProvider: (name) =>
      isModelProvider(agentDir, name) || modelRegistry.getAll().some((model) => model.provider === name),
    // Asked at each request: pi renews the token of a sign-in when that is due.
    providerToken: (provider) => modelRegistry.getApiKeyForProvider(provider),
  }
}
