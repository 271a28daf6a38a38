import { cleanLines, cut } from '@tapline/core'
import { redact } from '@tapline/headless'

/** What one server has logged. */
export interface Message {
  /** `14:03:22`, where the server that wrote it was. */
  readonly time: string
  /** `warning db: the disk is full`. */
  readonly lines: readonly string[]
  readonly isBad: boolean
}

const MOST_MESSAGES = 500
const LONGEST = 2_000
const BAD = /^(?:error|critical|alert|emergency|warning)\b/

/** The messages of one server among the lines of the log that all share. */
export class Messages {
  readonly #head: string
  #mine = false
  #list: Message[] = []

  constructor(server: string) {
    this.#head = ` [${server}] `
  }

  /** The newest last. The same list until something is added. */
  get list(): readonly Message[] {
    return this.#list
  }

  /** Takes lines in the order in which they were written. */
  add(lines: readonly string[]): void {
    const added = [...this.#list]
    for (const raw of lines) {
      const [, time, head] = /^(\d{4}-\d\d-\d\dT[\d:.]+Z)( \[[^\]]*\] )/.exec(raw) ?? []
      if (time === undefined) {
        const last = added.at(-1)
        // Further lines of a message are indented.
        if (this.#mine && last && raw.startsWith('    '))
          added[added.length - 1] = { ...last, lines: [...last.lines, shown(raw.slice(4))] }
        continue
      }
      this.#mine = head === this.#head
      if (!this.#mine) continue
      const text = shown(raw.slice(time.length + this.#head.length))
      added.push({ time: clockOf(time), lines: [text], isBad: BAD.test(text) })
    }
    this.#list = added.slice(-MOST_MESSAGES)
  }
}

function shown(text: string): string {
  return cut(cleanLines(redact(text.slice(0, 2 * LONGEST))), LONGEST)
}

function clockOf(time: string): string {
  const date = new Date(time)
  return Number.isNaN(date.getTime()) ? '--:--:--' : date.toTimeString().slice(0, 8)
}
