import { randomUUID } from 'node:crypto'
import type { Notice, RawNotification, Trigger } from '@tapline/core'
import { display, displayMethod } from './display.ts'
import { keyPart } from './keys.ts'
import { LIST_CHANGES, PROTOCOL_METHODS, RESOURCE_UPDATED } from './methods.ts'

/**
 * The mapping table: list changes and resource updates have stable keys and collapse to the latest;
 * custom notifications need `_meta.pi_dedup_key`, or they are dropped here and counted.
 */
export function mapNotification(raw: RawNotification): Notice {
  const { server, method, params } = raw
  const prefix = `mcp:${keyPart(server)}`
  const list = LIST_CHANGES.get(method)
  if (list !== undefined) return trigger(raw, `${prefix}:${list}`, 'latest_replaces', method)
  if (method === RESOURCE_UPDATED) {
    const uri = params?.uri
    if (typeof uri !== 'string') return trigger(raw, `${prefix}:resources:unknown`, 'latest_replaces', method)
    return trigger(raw, `${prefix}:resources:${keyPart(uri)}`, 'latest_replaces', `${method} uri=${display(uri)}`)
  }
  if (PROTOCOL_METHODS.has(method)) return { kind: 'handled' }
  const meta = params?._meta as Readonly<Record<string, unknown>> | null | undefined
  const key = typeof meta === 'object' && meta !== null ? meta.pi_dedup_key : undefined
  const shown = displayMethod(method)
  if (typeof key !== 'string' || key === '') {
    return {
      kind: 'drop',
      reason: 'no dedup key',
      error: `dropped custom notification "${shown}": missing \`_meta.pi_dedup_key\``,
    }
  }
  const text = typeof meta?.pi_summary === 'string' ? display(meta.pi_summary) : ''
  const summary = text === '' ? shown : `${shown} ${text}`
  return trigger(raw, `${prefix}:custom:${keyPart(method)}:${keyPart(key)}`, 'drop', summary)
}

function trigger(raw: RawNotification, key: string, replacement: Trigger['replacement'], summary: string): Trigger {
  return {
    kind: 'trigger',
    traceId: randomUUID(),
    source: 'mcp',
    server: raw.server,
    method: raw.method.length > 200 ? displayMethod(raw.method) : raw.method,
    key,
    replacement,
    summary,
    receivedAt: raw.receivedAt,
  }
}
