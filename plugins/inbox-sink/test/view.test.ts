import { mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { findEntry, type Inbox, type InboxEntry, shortId } from '../src/index.ts'
import { createPlace, type Place } from './place.ts'

const entry = (id: string, more: Partial<InboxEntry> = {}): InboxEntry => ({
  id,
  created_at: '2026-10-03T12:00:00.000+00:00',
  status: 'new',
  kind: 'news',
  source: 'trigger:mcp:hub',
  run_id: id,
  cwd: '',
  text: id,
  verified: null,
  dismiss_reason: null,
  job_id: null,
  session_id: null,
  claimed_by: null,
  verified_reason: null,
  dismissed_at: null,
  ...more,
})

/** An inbox with these entries. */
const holding = (place: Place, entries: readonly InboxEntry[]): Inbox => {
  place.write(entries.map((written) => `${JSON.stringify(written)}\n`).join(''))
  return place.open()
}

describe('the view', () => {
  it('shows what is new: checkpoints first, each kind oldest first', () => {
    const entries = [
      entry('news-1'),
      entry('claimed', { status: 'claimed' }),
      entry('check-1', { kind: 'checkpoint', created_at: 'tomorrow' }),
      entry('news-2', { created_at: '2999-01-01T00:00:00Z' }),
      entry('odd', { status: 'archived' }),
      entry('check-2', { kind: 'checkpoint' }),
    ]
    const { listed, elsewhere } = holding(createPlace(), entries).view({ cwd: '/a', all: true })
    expect(listed.map(({ id }) => id)).toEqual(['check-1', 'check-2', 'news-1', 'news-2'])
    expect(elsewhere).toBe(0)
  })

  it('takes a directory above or below, and through a link, for the same project', () => {
    const place = createPlace()
    const { root, paths } = place
    const { cwd } = paths
    mkdirSync(join(cwd, 'sub'))
    symlinkSync(cwd, join(root, 'link'))
    const at = (where: string) => entry(`of ${where}`, { cwd: where })
    const mine = [cwd, join(cwd, 'sub'), join(root, 'link'), join(cwd, 'gone', 'deeper'), '']
    const others = [root, '/', join(root, 'project-2'), join(root, 'elsewhere'), 'relative']
    const inbox = holding(place, [...mine, ...others].map(at))
    const seenFrom = (where: string): string[] =>
      inbox.view({ cwd: where, all: false }).listed.map((found) => found.cwd)
    expect(seenFrom(join(root, 'link'))).toEqual(mine)
    expect(inbox.view({ cwd: join(root, 'link'), all: false }).elsewhere).toBe(others.length)
    expect(seenFrom(join(cwd, 'sub'))).toEqual(mine.filter((where) => !where.includes('gone')))
    // The home directory and the root are projects, but not of what lies in them.
    expect(seenFrom(root)).toEqual(['', root])
    expect(seenFrom('/')).toEqual(['', '/'])
  })

  it('has a history of every status', () => {
    const entries = [
      entry('a', { status: 'claimed' }),
      entry('b', { cwd: '/b' }),
      entry('c', { status: 'dismissed' }),
    ]
    const inbox = holding(createPlace(), entries)
    expect(inbox.history({ cwd: '/a', all: false }).map(({ id }) => id)).toEqual(['a', 'c'])
    expect(inbox.history({ cwd: '/a', all: true })).toEqual(entries)
  })
})

describe('an id', () => {
  const entries = [
    entry('inb-1a2b3c4d00'),
    entry('inb-1a2b3c4dff', { status: 'claimed' }),
    entry('inb-77aa'),
    entry('inb-77bb'),
    entry('inb-99', { status: 'dismissed' }),
    entry('inb-99', { status: 'dismissed' }),
    entry('other'),
  ]
  const meant = (ref: string) => {
    const found = findEntry(entries, ref)
    return typeof found === 'string' ? found : found.id
  }

  it('is found whole or by its beginning, with and without its prefix', () => {
    expect(meant('inb-77aa')).toBe('inb-77aa')
    expect(meant(' 77A ')).toBe('inb-77aa')
    expect(meant('inb-77b')).toBe('inb-77bb')
    expect(meant('oth')).toBe('other')
    expect(meant('99')).toBe('inb-99')
    // Of two, the one that is still new.
    expect(meant('1a2b3c4d')).toBe('inb-1a2b3c4d00')
    expect(shortId('inb-1a2b3c4d00')).toBe('1a2b3c4d')
  })

  it('is refused when it is nobody’s or several’s', () => {
    expect(meant('77')).toBe('2 findings have an id that begins with "77": give more of it.')
    expect(meant('inb-5')).toBe('No finding has an id that begins with "inb-5".')
    expect(meant('inb-')).toMatch(/^Say which one/)
    expect(meant(' ')).toMatch(/^Say which one/)
  })
})
