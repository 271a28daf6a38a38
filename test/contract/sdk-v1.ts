import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { ElicitRequestSchema, ListRootsRequestSchema, ResultSchema } from '@modelcontextprotocol/sdk/types.js'
import { messageOf, TaplineError } from '@tapline/core'
import type { CallToolResult, Sdk, SdkClient, ToolPage, Transport } from '@tapline/core'

type Params = Readonly<Record<string, unknown>> | undefined
type Limits = { readonly signal: AbortSignal; readonly timeoutMs: number }

/** The SDK's maintenance line behind the session's interface: legacy revisions only. */
export const sdkV1: Sdk = {
  createClient(options): SdkClient {
    const asks = options.elicit ? { elicitation: { form: {}, url: {} } } : {}
    const client = new Client(options.info, { capabilities: { roots: {}, ...asks } })
    if (options.elicit)
      client.setRequestHandler(ElicitRequestSchema, async ({ params }, { signal }) => {
        try {
          return { ...(await options.elicit!(params, signal)) }
        } catch (thrown) {
          throw Object.assign(new Error(messageOf(thrown)), { code: -32602 })
        }
      })
    client.setRequestHandler(ListRootsRequestSchema, () => ({ roots: [...options.roots()] }))
    client.onerror = (error) => options.onError(error)
    let protocolVersion: string | undefined

    const send = async (method: string, params: Params, { signal, timeoutMs }: Limits): Promise<unknown> => {
      const request = { method, ...(params ? { params: { ...params } } : {}) }
      return client.request(request, ResultSchema, { signal, timeout: timeoutMs })
    }

    return {
      async connect(transport, { signal, timeoutMs }) {
        const listened = listen(transport, (version) => (protocolVersion = version))
        await client.connect(listened as Parameters<Client['connect']>[0], { signal, timeout: timeoutMs })
      },
      era: 'legacy',
      get protocolVersion() {
        return protocolVersion
      },
      get serverInfo() {
        return client.getServerVersion()
      },
      get capabilities() {
        return client.getServerCapabilities() ?? {}
      },
      get instructions() {
        return client.getInstructions()
      },
      request: send,
      callTool: async (params, limits) => (await send('tools/call', params, limits)) as CallToolResult,
      listTools: async (cursor, limits) =>
        (await send('tools/list', cursor === undefined ? undefined : { cursor }, limits)) as ToolPage,
      listen: () => Promise.reject(new TaplineError('PROTOCOL', 'Legacy servers have no listen streams.')),
      notify: (method, params) =>
        client.notification({ method, ...(params ? { params: { ...params } } : {}) }),
      close: () => client.close(),
    }
  },
  streamableHttp() {
    throw new TaplineError('CONNECT_FAILED', 'The contract is tested in memory.')
  },
}

/** Hears the negotiated revision, and keeps the SDK from cancelling `initialize`, which the protocol forbids. */
function listen(transport: Transport, onVersion: (version: string) => void): Transport {
  let negotiated = false
  const { setProtocolVersion } = transport
  const send = transport.send.bind(transport)
  transport.send = async (frame, options) => {
    if (negotiated || frame.method !== 'notifications/cancelled') await send(frame, options)
  }
  transport.setProtocolVersion = (version) => {
    negotiated = true
    onVersion(version)
    setProtocolVersion?.call(transport, version)
  }
  return transport
}
