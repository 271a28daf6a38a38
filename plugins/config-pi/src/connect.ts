import type { ConnectRequest, Host } from '@tapline/core'
import { runCommand } from './command.ts'
import { urlOf } from './urls.ts'
import { fillUrl, fillValue } from './values.ts'

/**
 * Fills in variables and commands, anew at each connect. A value that cannot be had fails the
 * server before anything is started or sent; neither the value nor a command is ever shown.
 */
export async function resolveValues(request: ConnectRequest, env: Host['env']): Promise<void> {
  const { transport, server } = request
  if (server.dialect !== 'mcp.json' && server.dialect !== 'registered') return
  request.resolve = (value, subject) => resolveOne(value, subject, request, env)
  if (transport.type === 'stdio') {
    const resolved = await resolveAll(transport.env, 'env', request, env)
    for (const [name, value] of Object.entries(resolved)) {
      if (value.includes('\0')) throw failure(request, `env "${name}"`, 'its value holds a null character')
    }
    request.transport = { ...transport, env: resolved }
    Object.assign(request.env, resolved)
  } else if (transport.type === 'streamable-http') {
    const url = resolveUrl(transport.url, request, env)
    const resolved = await resolveAll(transport.headers, 'header', request, env)
    for (const [name, value] of Object.entries(resolved)) {
      // `fetch` would refuse it with a message that quotes it.
      if (!/^[\t\u0020-\u007E\u0080-\u00FF]*$/.test(value)) {
        throw failure(
          request,
          `header "${name}"`,
          'its value holds a line break or another character that HTTP does not allow',
        )
      }
    }
    request.transport = { ...transport, url, headers: resolved }
    Object.assign(request.headers, resolved)
  }
}

type What = 'env' | 'header'

async function resolveAll(
  values: Readonly<Record<string, string>>,
  what: What,
  request: ConnectRequest,
  env: Host['env'],
): Promise<Record<string, string>> {
  const resolved = Object.entries(values).map(async ([name, text]) => [
    name,
    await resolveOne(text, `${what} "${name}"`, request, env),
  ])
  return Object.fromEntries(await Promise.all(resolved)) as Record<string, string>
}

async function resolveOne(
  text: string,
  subject: string,
  request: ConnectRequest,
  env: Host['env'],
): Promise<string> {
  if (text.startsWith('!')) {
    const result = await runCommand(text.slice(1), { cwd: request.cwd, env, signal: request.signal })
    if ('failure' in result) throw failure(request, subject, `its command ${result.failure}`)
    return result.value
  }
  const filled = fillValue(text, env)
  if ('missing' in filled) throw missing(request, subject, filled.missing)
  return filled.value
}

function resolveUrl(text: string, request: ConnectRequest, env: Host['env']): string {
  const filled = fillUrl(text, env)
  if ('missing' in filled) throw missing(request, 'url', filled.missing)
  if (filled.value === text) return text
  const url = urlOf(filled.value)
  if (!url || !/^https?:$/.test(url.protocol))
    throw failure(request, 'url', 'it must be an http or https URL')
  if (url.username || url.password)
    throw failure(request, 'url', 'it must not contain credentials; use headers')
  return filled.value
}

function missing(request: ConnectRequest, subject: string, names: readonly string[]): Error {
  const list = names.join(', ')
  const message = `failed to resolve ${subject} from environment ${names.length === 1 ? 'variable' : 'variables'}: ${list}`
  // What runs already does not see a variable that is set later.
  return request.error('CREDENTIAL_MISSING', message, {
    advice: `Set ${list} in the environment and start again.`,
    data: { lasting: true },
  })
}

/**
 * A command may ask a person for something each time: it is not run again by itself. In brackets, since what follows a
 * header's name and a colon is taken for its value wherever secrets are masked.
 */
function failure(request: ConnectRequest, subject: string, reason: string): Error {
  return request.error('CREDENTIAL_MISSING', `failed to resolve ${subject} (${reason})`, {
    advice: 'Fix the value in the entry or what it refers to, then /mcp reconnect it.',
    data: { lasting: true },
  })
}
