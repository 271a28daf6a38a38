import { type Diagnostic, ownAdvice, sentence, type ServerSpec, type TaplineError } from '@tapline/core'

/** What went wrong with a server, and what to do or what comes next. `over`: nothing is tried again by itself. */
export function failureOf(spec: ServerSpec, error: TaplineError, over: boolean): Diagnostic {
  const { name, reconnect } = spec
  if (error.code === 'SUBSCRIPTION_REFUSED' || error.code === 'PUSHES_REFUSED') {
    const message = `mcp server '${name}': ${sentence(error.message)} ${error.advice}`
    return { severity: 'warning', message, server: name }
  }
  const retries = `(retrying with backoff, up to ${reconnect.maxAttempts} attempts)`
  const next = over ? [error.advice] : [ownAdvice(error) ?? [], retries].flat()
  const message = [`mcp server '${name}' failed:`, sentence(error.message), ...next].join(' ')
  return { severity: 'warning', message, server: name }
}

/** A server whose pushes cannot arrive: a warning only where somebody asked for them. */
export function noPushStream({ name, push }: ServerSpec): Diagnostic {
  return {
    severity: Object.keys(push).length > 0 ? 'warning' : 'info',
    message: `server "${name}" offers no server-push stream: its tools work, notifications do not arrive.`,
    server: name,
  }
}

/** A policy that leads to a sink which no plugin provides. */
export function noSink(policy: string, server: string): Diagnostic {
  const message = `server "${server}": no plugin provides the sink "${policy}"; its pushes are dropped.`
  return { severity: 'warning', message, server }
}
