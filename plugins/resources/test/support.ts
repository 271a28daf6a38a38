import type { ResourceServer } from '../src/index.ts'

/** Answers requests: a value is the result, a thrown error the refusal. */
export type Script = (method: string, params: Readonly<Record<string, unknown>> | undefined) => unknown

/** An error as a session throws it for one of the server, or of HTTP. */
export function failure(message: string, data: { readonly code?: number; readonly status?: number }): Error {
  return Object.assign(new Error(message), { data })
}

/** A server that answers by a script, and remembers what it was asked. */
export function scripted(
  name: string,
  script: Script,
): ResourceServer & { readonly asked: (readonly [string, unknown])[] } {
  const asked: (readonly [string, unknown])[] = []
  return {
    name,
    asked,
    request: async (method, params, signal) => {
      asked.push([method, params])
      signal?.throwIfAborted()
      return script(method, params)
    },
  }
}
