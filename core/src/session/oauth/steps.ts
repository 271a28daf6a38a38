import { TaplineError } from '../../errors.ts'
import { cleanText } from '../../text.ts'
import type {
  AuthorizationCode,
  OAuthChallenge,
  OAuthClient,
  OAuthClientMetadata,
  OAuthDiscovery,
  OAuthGrant,
  OAuthRequest,
  OAuthSteps,
} from '../../types/index.ts'
import { discover } from './discovery.ts'
import { foreignIssuer, quoted, stepError } from './errors.ts'
import { fetchFor, type OAuthFetch } from './fetch.ts'
import { placesFor } from './places.ts'

type SdkModule = typeof import('@modelcontextprotocol/client')
type SdkMetadata = Parameters<SdkModule['registerClient']>[1]['metadata']

/** The steps over the SDK's functions, which do the protocol. */
export function stepsOver(module: SdkModule): OAuthSteps {
  const guard = async <T>(what: string, known: readonly string[], work: () => Promise<T>): Promise<T> => {
    try {
      return await work()
    } catch (thrown) {
      throw stepError(thrown, what, module, known)
    }
  }
  return {
    challengeOf: (response) => challengeOf(module, response),
    discover: (request) => guard('the look for its address', [], () => discover(module, request)),
    resourceOf: (serverUrl, discovery) => resourceOf(module, serverUrl, discovery),
    register: (discovery, client, request) =>
      guard('the registration', [], () => register(module, discovery, client, request)),
    authorize: (discovery, request) =>
      guard('the sign-in', [request.state], async () => {
        const started = await module.startAuthorization(discovery.authorizationServerUrl, {
          metadata: metadataOf(discovery),
          clientInformation: request.client as { client_id: string },
          redirectUrl: request.redirectUrl,
          state: request.state,
          ...(request.scope === undefined ? {} : { scope: request.scope }),
          ...resourceIn(request),
        } as Parameters<SdkModule['startAuthorization']>[1])
        // It is handed to the system's handler of addresses, which would start programs for some.
        const { href } = placesFor(request)(started.authorizationUrl)
        return { url: href, verifier: started.codeVerifier }
      }),
    checkIssuer: ({ authorizationServerMetadata: metadata }, iss) => {
      // Without metadata there is nothing to compare with: whoever names an issuer then is not believed.
      if (iss === undefined && metadata?.authorization_response_iss_parameter_supported !== true) return
      if (iss !== metadata?.issuer) throw foreignIssuer()
    },
    exchange: (discovery, code, grant) =>
      guard('the sign-in', secretsOf(grant, code), () => exchange(module, discovery, code, grant)),
    refresh: (discovery, refreshToken, grant) =>
      guard('to renew the sign-in', [...secretsOf(grant), refreshToken], () =>
        module.refreshAuthorization(discovery.authorizationServerUrl, {
          ...tokenRequest(discovery, grant),
          refreshToken,
        } as Parameters<SdkModule['refreshAuthorization']>[1]),
      ),
    error: (code, message, details) => new TaplineError(code, message, details),
    quote: (words, limit) => quoted(words, limit),
  }
}

function challengeOf(module: SdkModule, response: Response): OAuthChallenge {
  const header = response.headers.get('www-authenticate') ?? ''
  // A server may offer several schemes; the SDK reads one that stands first.
  const start = /(?:^|,\s*)(?=(?:bearer|dpop)\s)/i.exec(header)
  if (start === null) return {}
  const offered = header.slice(start.index + start[0].length)
  const read = module.extractWWWAuthenticateParams(
    new Response(null, { headers: { 'www-authenticate': offered } }),
  )
  return {
    ...(read.resourceMetadataUrl ? { resourceMetadataUrl: read.resourceMetadataUrl.href } : {}),
    ...(read.scope === undefined ? {} : { scope: read.scope }),
    ...(read.error === undefined ? {} : { error: read.error }),
  }
}

function resourceOf(
  module: SdkModule,
  serverUrl: string,
  { resourceMetadata }: OAuthDiscovery,
): string | undefined {
  if (!resourceMetadata) return undefined
  const { resource } = resourceMetadata
  const requested = module.resourceUrlFromServerUrl(serverUrl)
  if (module.checkResourceAllowed({ requestedResource: requested, configuredResource: resource }))
    return resource
  const message = `The server’s metadata is that of another one: ${cleanText(resource, 200)}.`
  throw new TaplineError('AUTH_FAILED', message, {
    advice: 'Look at whether the url of the entry is exactly the one that the server documents.',
  })
}

async function register(
  module: SdkModule,
  discovery: OAuthDiscovery,
  client: OAuthClientMetadata,
  request: OAuthRequest & { readonly scope?: string | undefined },
): Promise<OAuthClient> {
  const metadata = metadataOf(discovery)
  const { scope } = request
  if (metadata && metadata.registration_endpoint === undefined) {
    throw new TaplineError('AUTH_FAILED', 'The authorization server does not register clients by itself.', {
      advice: 'Register one with whoever runs it, and set "clientId" in the entry’s "oauth".',
    })
  }
  const clientMetadata = module.resolveClientMetadata({
    redirectUrl: client.redirect_uris[0],
    clientMetadata: { ...client, response_types: ['code'] },
  })
  // What it was registered with is known, whether or not the answer says so.
  const fetchFn = completing(fetchFor(request), { redirect_uris: client.redirect_uris })
  const registered = module.registerClient(discovery.authorizationServerUrl, {
    metadata,
    clientMetadata,
    ...(scope === undefined ? {} : { scope }),
    fetchFn,
  } as Parameters<SdkModule['registerClient']>[1])
  try {
    return await registered
  } catch (thrown) {
    if (metadata === undefined && thrown instanceof module.RegistrationRejectedError && thrown.status === 404)
      throw nobody(discovery)
    throw thrown
  }
}

/** Without metadata only the usual addresses could be tried. */
function nobody({ authorizationServerUrl }: OAuthDiscovery): TaplineError {
  const { origin } = new URL(authorizationServerUrl)
  const message = `Neither the server nor ${origin} says who signs people in.`
  return new TaplineError('AUTH_FAILED', message, {
    advice:
      'If the server takes a key, put it into an "Authorization" header of the entry. If you know who signs people in, set "authServerMetadataUrl" in its "oauth".',
  })
}

async function exchange(
  module: SdkModule,
  discovery: OAuthDiscovery,
  { code, iss, verifier, redirectUrl }: AuthorizationCode,
  grant: OAuthGrant,
): ReturnType<OAuthSteps['exchange']> {
  return module.exchangeAuthorization(discovery.authorizationServerUrl, {
    ...tokenRequest(discovery, grant),
    authorizationCode: code,
    ...(iss === undefined ? {} : { iss }),
    codeVerifier: verifier,
    redirectUri: redirectUrl,
  } as Parameters<SdkModule['exchangeAuthorization']>[1])
}

function tokenRequest(discovery: OAuthDiscovery, grant: OAuthGrant): object {
  return {
    metadata: metadataOf(discovery),
    clientInformation: grant.client,
    ...resourceIn(grant),
    fetchFn: fetchFor(grant),
  }
}

function resourceIn({ resource }: OAuthGrant): { resource?: string } {
  return resource === undefined ? {} : { resource }
}

function metadataOf({ authorizationServerMetadata }: OAuthDiscovery): SdkMetadata {
  return authorizationServerMetadata
}

function secretsOf({ client }: OAuthGrant, code?: AuthorizationCode): string[] {
  return [client.client_secret ?? '', code?.code ?? '', code?.verifier ?? '']
}

/** Answers with what they leave out. */
function completing(fetch: OAuthFetch, missing: Readonly<Record<string, unknown>>): OAuthFetch {
  return async (url, init) => {
    const response = await fetch(url, init)
    if (!response.ok) return response
    const text = await response.text()
    const { status } = response
    try {
      const answer: unknown = JSON.parse(text)
      if (typeof answer === 'object' && answer !== null && !Array.isArray(answer))
        return Response.json({ ...missing, ...answer }, { status })
    } catch {
      // The SDK says what is wrong with it.
    }
    return new Response(text, { status })
  }
}
