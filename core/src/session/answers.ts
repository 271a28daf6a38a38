import type { Frame } from '../types/index.ts'

type Members = Readonly<Record<string, unknown>>

/** The code that stands in for an answer that is none. No server sends it: it is beyond what JSON-RPC reserves. */
export const NO_ANSWER = -1_000_001

/**
 * An answer as the SDK is to see it. It drops one that is not, to the letter, either a result or an error (JSON-RPC 2.0,
 * section 5), and whoever asked would wait for nothing. What is beside the point goes: other members, a `null` for what there
 * is not, a `_meta` that is none. An answer that is neither becomes an error.
 */
export function answer(frame: Frame, era: 'legacy' | 'modern' | undefined): Frame {
  const { id, method, result, error } = frame
  if (method !== undefined || id === undefined || id === null) return frame
  if (isRecord(result) && isAbsent(error)) return { jsonrpc: '2.0', id, result: complete(result, era) }
  if (isRecord(error) && isAbsent(result) && isErrorOf(error)) return { jsonrpc: '2.0', id, error }
  return { jsonrpc: '2.0', id, error: { code: NO_ANSWER, message: 'no answer' } }
}

function complete(result: Members, era: string | undefined): Members {
  const { _meta: meta, ...rest } = result
  const kept = meta === undefined || isRecord(meta) ? result : rest
  // One that does not say what it is, is complete (specification 2026-07-28, basic, "ResultType"); the SDK refuses it.
  return era === 'modern' && !('resultType' in kept) ? { ...kept, resultType: 'complete' } : kept
}

function isAbsent(value: unknown): boolean {
  return value === undefined || value === null
}

function isErrorOf({ code, message }: Members): boolean {
  return Number.isSafeInteger(code) && typeof message === 'string'
}

function isRecord(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
