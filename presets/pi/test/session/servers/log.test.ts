import { appendFileSync, mkdtempSync, renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { Messages } from '../../../src/session/servers/log/messages.ts'
import { createLogPage } from '../../../src/session/servers/log/page.ts'
import { Tail } from '../../../src/session/servers/log/tail.ts'
import { PATHS, scopeOf, server, show } from './stage.ts'

let directory = ''
beforeEach(() => void (directory = mkdtempSync(path.join(tmpdir(), 'log-'))))
afterEach(() => rmSync(directory, { recursive: true, force: true }))

const TIME = '2026-11-30T14:03:22.123Z'
const line = (name: string, text: string): string => `${TIME} [${name}] info ${text}\n`

describe('the tail of a file', () => {
  const tails: Tail[] = []
  afterEach(() => Promise.all(tails.splice(0).map((tail) => tail.close())))
  const follow = () => {
    const file = path.join(directory, 'mcp.log')
    const heard: string[] = []
    const tail = new Tail(file, (lines) => heard.push(...lines))
    tails.push(tail)
    return { file, heard, tail }
  }

  it('is the end of what is there, and what is added', async () => {
    const { file, heard, tail } = follow()
    await tail.look()
    expect(heard).toEqual([])
    writeFileSync(file, 'one\ntwo\n')
    await tail.look()
    appendFileSync(file, 'thr')
    await tail.look()
    appendFileSync(file, 'ee é'.slice(0, 3))
    appendFileSync(file, Buffer.from('é').subarray(0, 1))
    await tail.look()
    appendFileSync(file, Buffer.concat([Buffer.from('é').subarray(1), Buffer.from('\nfour\n')]))
    await Promise.all([tail.look(), tail.look()])
    expect(heard).toEqual(['one', 'two', 'three é', 'four'])
  })

  it('loses nothing when the file is renamed and begun anew', async () => {
    const { file, heard, tail } = follow()
    writeFileSync(file, 'one\n')
    await tail.look()
    appendFileSync(file, 'before\n')
    renameSync(file, `${file}.1`)
    writeFileSync(file, 'after\n')
    await tail.look()
    appendFileSync(file, 'later\n')
    await tail.look()
    expect(heard).toEqual(['one', 'before', 'after', 'later'])
    rmSync(file)
    rmSync(`${file}.1`)
    await tail.look()
    writeFileSync(file, 'from the beginning, after the first was deleted\n')
    await tail.look()
    expect(heard.at(-1)).toBe('from the beginning, after the first was deleted')
  })

  it('takes no new file for the one before it, however soon that was deleted', async () => {
    const { file, heard, tail } = follow()
    for (const name of Array.from({ length: 20 }, (_, n) => `file ${n}`)) {
      writeFileSync(file, `${name} ${'x'.repeat(heard.length)}\n`)
      await tail.look()
      expect(heard.at(-1)?.trimEnd()).toMatch(new RegExp(`^${name}(?: x+)?$`))
      rmSync(file)
    }
    expect(heard).toHaveLength(20)
  })

  it('reads nothing when it is closed', async () => {
    const { file, heard, tail } = follow()
    writeFileSync(file, 'one\n')
    const looking = tail.look()
    await tail.close()
    await looking
    appendFileSync(file, 'two\n')
    await tail.look()
    expect(heard).toEqual(['one'])
  })

  it('begins anew in a file that was cut, and in the middle of a long one', async () => {
    const { file, heard, tail } = follow()
    writeFileSync(file, 'long enough\n')
    await tail.look()
    truncateSync(file)
    appendFileSync(file, 'new\n')
    await tail.look()
    expect(heard).toEqual(['long enough', 'new'])
    const other = follow()
    writeFileSync(other.file, `${'x'.repeat(400_000)}\nlast\n`)
    await other.tail.look()
    expect(other.heard).toEqual(['last'])
    const many = follow()
    writeFileSync(many.file, Array.from({ length: 50_000 }, (_, n) => `line ${n}\n`).join(''))
    await many.tail.look()
    expect(many.heard.at(-1)).toBe('line 49999')
    expect(many.heard[0]).toMatch(/^line \d+$/)
  })
})

describe('messages of one server', () => {
  it('are found among those of all, with their further lines, and cannot steer the terminal', () => {
    const messages = new Messages('hub')
    messages.add([
      `${TIME} [other] info not mine`,
      '    nor this',
      `${TIME} [hub] error db: the disk \u001B[31mis\u202E full`,
      '    second line token=abcdefghijkl',
      `${TIME} [hub2] info nor this [hub] info`,
      '    nor this',
    ])
    const before = messages.list
    messages.add([`${TIME} [other] info nothing`])
    messages.add([`${TIME} [hub] info fine`])
    messages.add(['    still fine', 'garbage', '    of nobody'.trim()])
    expect(messages.list.map(({ lines, isBad }) => ({ lines, isBad }))).toEqual([
      { lines: ['error db: the disk is full', 'second line token=[REDACTED:secret]'], isBad: true },
      { lines: ['info fine', 'still fine'], isBad: false },
    ])
    expect(messages.list).not.toBe(before)
    expect(messages.list[0]?.time).toMatch(/^\d\d:\d\d:\d\d$/)
  })

  it('are the newest few hundred, each of them bounded', () => {
    const messages = new Messages('hub')
    messages.add(Array.from({ length: 2_000 }, (_, n) => `${TIME} [hub] info ${n} ${'x'.repeat(9_000)}`))
    expect(messages.list).toHaveLength(500)
    expect(messages.list.at(-1)?.lines[0]).toMatch(/^info 1999 x+…$/)
  })
})

it('the page of the log shows what a server logs while it is open, also after the file was renamed', async () => {
  const file = path.join(directory, 'mcp.log')
  writeFileSync(file, line('other', 'nothing') + line('hub', 'first'))
  const scope = scopeOf([server('hub')], { paths: { ...PATHS, agentDir: directory } })
  const shown = show(scope, { page: (panel) => createLogPage(panel, 'hub') })
  const opened = await shown.until(/info first/)
  expect(opened[1]).toBe(` Log of hub  ${file}, followed`)
  expect(opened.slice(2, 4)).toEqual([expect.stringMatching(/^ \d\d:\d\d:\d\d {2}info first$/), ''])
  appendFileSync(file, line('hub', 'second'))
  await shown.until(/info second/)
  appendFileSync(file, line('hub', 'third'))
  renameSync(file, `${file}.1`)
  writeFileSync(file, line('hub', 'fourth'))
  expect((await shown.until(/info fourth/)).filter((text) => /info \w+$/.test(text))).toHaveLength(4)
  shown.press('escape')
  expect(shown.isDone()).toBe(true)
})
