import { sep } from 'node:path'
import { cleanText, type HostPaths, type ServerSpec } from '@tapline/core'
import { redact } from '@tapline/headless'

const LONGEST_COMMAND = 1_000
/** What follows such a flag is not shown, whatever it looks like. */
const SECRET_FLAG = /^--?[\w-]*(?:token|secret|passw|pwd|key|credential|auth)[\w-]*$/i

/** `14 tools`. */
export function count(number: number, noun: string, plural = `${noun}s`): string {
  return `${number} ${number === 1 ? noun : plural}`
}

/** `3 min ago`; nothing for a time that is none. */
export function ago(time: number, now: number): string {
  const seconds = Math.floor((now - time) / 1_000)
  if (Number.isNaN(seconds)) return ''
  return seconds < 1 ? 'just now' : `${lasting(seconds)} ago`
}

/** `3 min`. */
export function lasting(seconds: number): string {
  if (seconds < 60) return `${Math.max(0, seconds)} s`
  const minutes = Math.floor(seconds / 60)
  if (minutes < 60) return `${minutes} min`
  const hours = Math.floor(minutes / 60)
  return hours < 48 ? `${hours} h` : `${Math.floor(hours / 24)} d`
}

/** `14:03:22`. */
export function clock(time: number): string {
  const date = new Date(time)
  if (Number.isNaN(date.getTime())) return '--:--:--'
  return [date.getHours(), date.getMinutes(), date.getSeconds()]
    .map((part) => String(part).padStart(2, '0'))
    .join(':')
}

/** Directories that need not be spelled out. */
export type Places = Pick<HostPaths, 'cwd' | 'home'>

/** A path as a person writes it: from the project, or from home. */
export function pathText(path: string, { cwd, home }: Places): string {
  if (path.startsWith(cwd + sep)) return path.slice(cwd.length + 1)
  return path.startsWith(home + sep) ? `~${path.slice(home.length)}` : path
}

/** How a server is reached, without secrets: `stdio: node hub.mjs`. */
export function transportText({ transport }: Pick<ServerSpec, 'transport'>, places: Places): string {
  switch (transport.type) {
    case 'stdio': {
      const words = [transport.command, ...transport.args].map((word, index, all) =>
        SECRET_FLAG.test(all[index - 1] ?? '') && !word.startsWith('-')
          ? '[REDACTED]'
          : quoted(pathText(word, places)),
      )
      return `stdio: ${said(words.join(' '), LONGEST_COMMAND)}`
    }
    case 'streamable-http':
      return `http: ${addressText(transport.url)}`
    default:
      return said(transport.name, LONGEST_COMMAND)
  }
}

/** An address without what may be secret in it: who asks, and what for. */
export function addressText(address: string): string {
  const [, before = '', query] = /^([^?#]*)(\?)?/.exec(address) ?? []
  const asked = query === undefined ? '' : '?…'
  return said(`${before.replace(/^(\w+:\/\/)[^/@]*@/, '$1')}${asked}`, LONGEST_COMMAND)
}

/** Where an entry comes from, in a word or two. */
export function sourceText({ dialect, source }: Pick<ServerSpec, 'dialect' | 'source'>): string {
  if (source.scope === 'session') return 'extension'
  const scope = source.override === undefined ? source.scope : 'user, override'
  return dialect === 'mcp.json' ? scope : source.scope === 'user' ? dialect : `${source.scope} ${dialect}`
}

/** The file of an entry, and that of its override where there is one: `user: ~/.pi/agent/mcp.json:12`. */
export function fileTexts({ source }: Pick<ServerSpec, 'source'>, places: Places): readonly string[] {
  const { scope, label, path, line, override } = source
  if (scope === 'session') return [`registered by ${cleanText(label, 200)}, for this session`]
  const file = cleanText(path === undefined ? label : pathText(path, places), 400)
  return [
    `${scope}: ${file}${line === undefined ? '' : `:${line}`}`,
    ...(override === undefined
      ? []
      : [`overridden for this project: ${cleanText(pathText(override, places), 400)}`]),
  ]
}

/** What a server or its entry says, on one line and without what looks like a secret. */
export function said(text: string, limit: number): string {
  return cleanText(redact(cleanText(text, 2 * limit)), limit)
}

function quoted(word: string): string {
  return word === '' || /\s/.test(word) ? JSON.stringify(word) : word
}
