import type { Notice, RawNotification, Trigger } from '@tapline/core'
import { display, displayMethod } from './display.ts'
import { keyPart } from './keys.ts'
import { LIST_CHANGES, PROTOCOL_METHODS, RESOURCE_UPDATED } from './methods.ts'
import { nextTraceId } from './trace-ids.ts'

/**
 * The mapping table: list changes and resource updates have stable keys and collapse to the latest;
 * custom notifications need `_meta.pi_dedup_key`, or they are dropped here and counted.
 */
export function mapNotification(raw: RawNotification): Notice {
  const { server, method, params } = raw
  const list = LIST_CHANGES.get(method)
  if (list !== undefined) return trigger(raw, `${prefixOf(server)}:${list}`, 'latest_replaces', method)
  if (method === RESOURCE_UPDATED) {
    const uri = params?.uri
    if (typeof uri !== 'string')
      return trigger(raw, `${prefixOf(server)}:resources:unknown`, 'latest_replaces', method)
    return trigger(
      raw,
      `${prefixOf(server)}:resources:${keyPart(uri)}`,
      'latest_replaces',
      `${method} uri=${display(uri)}`,
    )
  }
  if (PROTOCOL_METHODS.has(method)) return { kind: 'handled' }
  const meta = params?._meta as Readonly<Record<string, unknown>> | null | undefined
  const key = typeof meta === 'object' && meta !== null ? meta.pi_dedup_key : undefined
  const { shown, keys } = customMethod(server, method)
  if (typeof key !== 'string' || key === '') {
    return {
      kind: 'drop',
      reason: 'no dedup key',
      error: `dropped custom notification "${shown}": missing \`_meta.pi_dedup_key\``,
    }
  }
  const text = typeof meta?.pi_summary === 'string' ? display(meta.pi_summary) : ''
  const summary = text === '' ? shown : `${shown} ${text}`
  return trigger(raw, keys + keyPart(key), 'drop', summary, shown)
}

interface CustomMethod {
  /** As it may be shown. */
  readonly shown: string
  /** What every key of this method begins with. */
  readonly keys: string
}

/** A server invents methods, but uses few: these are worked out once. */
const customMethods = new Map<string, CustomMethod>()
const MOST_METHODS = 256

function customMethod(server: string, method: string): CustomMethod {
  const name = `${server}\n${method}`
  const known = customMethods.get(name)
  if (known) return known
  const made = { shown: displayMethod(method), keys: `${prefixOf(server)}:custom:${keyPart(method)}:` }
  if (customMethods.size >= MOST_METHODS) customMethods.clear()
  if (name.length < 500) customMethods.set(name, made)
  return made
}

function prefixOf(server: string): string {
  return `mcp:${keyPart(server)}`
}

function trigger(
  raw: RawNotification,
  key: string,
  replacement: Trigger['replacement'],
  summary: string,
  shown = raw.method,
): Trigger {
  return {
    kind: 'trigger',
    traceId: nextTraceId(),
    source: 'mcp',
    server: raw.server,
    method: shown,
    key,
    replacement,
    summary,
    receivedAt: raw.receivedAt,
  }
}
