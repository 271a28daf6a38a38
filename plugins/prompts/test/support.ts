import type { PromptServer } from '../src/index.ts'

/** Answers requests: a value is the result, a thrown error the refusal. */
export type Script = (
  method: string,
  params: Readonly<Record<string, unknown>> | undefined,
  signal: AbortSignal | undefined,
) => unknown

/** A server that answers by a script, and remembers what it was asked. */
export interface ScriptedServer extends PromptServer {
  readonly asked: (readonly [string, unknown])[]
}

/** An error as a session throws it for one of the server. */
export function refusal(message: string, code?: number): Error {
  return Object.assign(new Error(message), { data: code === undefined ? {} : { code } })
}

/** A server that offers prompts and completes, unless other capabilities are given. */
export function scripted(
  script: Script,
  capabilities: Readonly<Record<string, unknown>> = { prompts: {}, completions: {} },
  name = 'srv',
): ScriptedServer {
  const asked: (readonly [string, unknown])[] = []
  return {
    name,
    capabilities,
    asked,
    request: async (method, params, signal) => {
      asked.push([method, params])
      signal?.throwIfAborted()
      return script(method, params, signal)
    },
  }
}

/** A prompt with these arguments; a `?` behind a name makes it optional. */
export function promptOf(...names: readonly string[]) {
  return {
    name: 'review',
    arguments: names.map((name) => ({ name: name.replace(/\?$/, ''), required: !name.endsWith('?') })),
  }
}

/** Lets everything that is ready run. */
export const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
