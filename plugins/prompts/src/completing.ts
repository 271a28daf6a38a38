import { isRecord, type PromptServer } from './source.ts'
import { isPlain } from './text.ts'

/** What is asked of a server. */
export interface CompletionRequest {
  /** The prompt, as the server knows it. */
  readonly prompt: string
  readonly argument: string
  /** What was typed of its value. */
  readonly value: string
  /** The other arguments that have a value already. */
  readonly given: ReadonlyMap<string, string>
}

/** Asks servers for the values of arguments, without making anybody wait for long. */
export interface Completer {
  /**
   * The values that the server proposes, at most 100, each fit for one line. None when it cannot complete, fails, or has
   * not answered within half a second; what it answers later is there when the same is asked again. Never rejects.
   */
  complete(server: PromptServer, request: CompletionRequest, signal?: AbortSignal): Promise<readonly string[]>
  /** Ends what is still under way. */
  close(): void
}

/** The clock of {@link createCompleter}, for tests. */
export interface CompleterTimes {
  /** Longest that somebody waits, in milliseconds. */
  readonly waitMs: number
  /** Longest that a request lasts, in milliseconds. */
  readonly requestMs: number
  /** How long an answer is good, in milliseconds. */
  readonly freshMs: number
}

interface Answer {
  readonly values: readonly string[]
  readonly at: number
}

interface Running {
  readonly key: string
  readonly answer: Promise<readonly string[]>
  readonly stop: AbortController
}

const TIMES: CompleterTimes = { waitMs: 500, requestMs: 5_000, freshMs: 10_000 }
const MOST_VALUES = 100
const MOST_ANSWERS = 200
const LONGEST_VALUE = 1_000
const METHOD_NOT_FOUND = -32_601

/** One request to a server at a time: the next one takes the place of the last. */
export function createCompleter(times: CompleterTimes = TIMES): Completer {
  const answers = new Map<string, Answer>()
  const running = new Map<PromptServer, Running>()
  const unable = new WeakSet<PromptServer>()

  const keep = (key: string, values: readonly string[]): readonly string[] => {
    answers.delete(key)
    answers.set(key, { values, at: Date.now() })
    for (const oldest of answers.keys()) if (answers.size > MOST_ANSWERS) answers.delete(oldest)
    return values
  }
  const ask = async (
    server: PromptServer,
    key: string,
    { prompt, argument, value, given }: CompletionRequest,
    stop: AbortController,
  ): Promise<readonly string[]> => {
    const params = {
      ref: { type: 'ref/prompt', name: prompt },
      argument: { name: argument, value },
      ...(given.size > 0 ? { context: { arguments: Object.fromEntries(given) } } : {}),
    }
    const signal = AbortSignal.any([stop.signal, AbortSignal.timeout(times.requestMs)])
    try {
      return keep(key, valuesIn(await server.request('completion/complete', params, signal)))
    } catch (thrown) {
      if (codeOf(thrown) === METHOD_NOT_FOUND) unable.add(server)
      // One that was replaced by the next question says nothing of the server.
      return stop.signal.aborted ? [] : keep(key, [])
    } finally {
      if (running.get(server)?.stop === stop) running.delete(server)
    }
  }
  const begin = (server: PromptServer, key: string, request: CompletionRequest): Running => {
    running.get(server)?.stop.abort()
    const stop = new AbortController()
    const begun = { key, stop, answer: ask(server, key, request, stop) }
    running.set(server, begun)
    return begun
  }

  return {
    complete: async (server, request, signal) => {
      if (server.capabilities?.['completions'] === undefined || unable.has(server)) return []
      const key = JSON.stringify([
        server.name,
        request.prompt,
        request.argument,
        request.value,
        [...request.given],
      ])
      const known = answers.get(key)
      if (known && Date.now() - known.at < times.freshMs) return known.values
      const already = running.get(server)
      const { answer } = already?.key === key ? already : begin(server, key, request)
      return soon(answer, times.waitMs, signal)
    },
    close: () => {
      for (const { stop } of running.values()) stop.abort()
    },
  }
}

/** The answer, or nothing when it takes too long or nobody waits any more. */
function soon(
  answer: Promise<readonly string[]>,
  ms: number,
  signal: AbortSignal | undefined,
): Promise<readonly string[]> {
  return new Promise((resolve) => {
    const end = (values: readonly string[]): void => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', none)
      resolve(values)
    }
    const none = (): void => end([])
    const timer = setTimeout(none, ms)
    if (signal?.aborted) none()
    else signal?.addEventListener('abort', none, { once: true })
    void answer.then(end, none)
  })
}

/** What could not stand in the line of an editor is left out: it would be another value there. */
function valuesIn(result: unknown): readonly string[] {
  const completion = isRecord(result) ? result['completion'] : undefined
  const values = isRecord(completion) ? completion['values'] : undefined
  if (!Array.isArray(values)) return []
  const usable = (values as readonly unknown[]).filter(
    (value): value is string =>
      typeof value === 'string' && value !== '' && value.length <= LONGEST_VALUE && isPlain(value),
  )
  return [...new Set(usable)].slice(0, MOST_VALUES)
}

function codeOf(thrown: unknown): unknown {
  return (thrown as { readonly data?: { readonly code?: unknown } } | null | undefined)?.data?.code
}
