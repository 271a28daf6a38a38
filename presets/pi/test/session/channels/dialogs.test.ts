import type { ExtensionContext } from '@earendil-works/pi-coding-agent'
import type { PermissionRequest, Verdict } from '@tapline/channels'
import { describe, expect, it, vi } from 'vitest'
import { type ApprovalOptions, confirm, UNRELAYED } from '../../../src/session/approvals.ts'
import { relayDialogs } from '../../../src/session/channels/dialogs.ts'

type Ui = ExtensionContext['ui']

interface Dialog {
  readonly kind: 'confirm' | 'select'
  readonly options: ApprovalOptions | undefined
  answer(value: unknown): void
}

/** pi's dialogs, as far as they matter here: each stays open until it is answered or its signal ends it. */
function stage({ frozen = false, calling = true, relaying = true } = {}) {
  const dialogs: Dialog[] = []
  const notices: string[] = []
  const open = (kind: Dialog['kind'], options: ApprovalOptions | undefined, otherwise: unknown) =>
    new Promise<never>((resolve) => {
      dialogs.push({ kind, options, answer: (value) => resolve(value as never) })
      options?.signal?.addEventListener('abort', () => resolve(otherwise as never))
    })
  const plain = {
    confirm: (_title: string, _message: string, options?: ApprovalOptions) => open('confirm', options, false),
    select: (_title: string, _choices: string[], options?: ApprovalOptions) =>
      open('select', options, undefined),
    notify: (text: string) => void notices.push(text),
  }
  const ui = (frozen ? Object.freeze({ ...plain }) : { ...plain }) as unknown as Ui
  const ctx = { ui, hasUI: true } as ExtensionContext
  const asked: (PermissionRequest & { settle(verdict?: Verdict): void; how?: string })[] = []
  const end = relayDialogs(ctx, {
    calls: {
      asking: () => (calling ? { toolName: 'bash', input: { command: 'ls' } } : undefined),
      close: () => undefined,
    },
    channels: () => ({
      approveBy: () => undefined,
      relays: () => ['chat'],
      ask: (request) => {
        if (!relaying) return undefined
        const answered = Promise.withResolvers<Verdict | undefined>()
        const entry = { ...request, settle: answered.resolve }
        asked.push(entry)
        return {
          id: 'abcde',
          verdict: answered.promise,
          withdraw: (how) => (Object.assign(entry, { how }), answered.resolve(undefined)),
        }
      },
    }),
  })
  return { ui, ctx, dialogs, notices, asked, end, plain }
}

const allow: Verdict = { behavior: 'allow', server: 'chat' }
const deny: Verdict = { behavior: 'deny', server: 'chat' }

describe('dialogs that are relayed', () => {
  it('take the verdict of a channel, and close', async () => {
    const { ui, dialogs, asked, notices } = stage()
    const answer = ui.confirm('Run it?', 'ls')
    expect(asked).toMatchObject([{ toolName: 'bash', description: 'Run it?\nls', input: { command: 'ls' } }])
    asked[0]!.settle(allow)
    expect(await answer).toBe(true)
    expect(dialogs[0]!.options?.signal?.aborted).toBe(true)
    expect(notices).toEqual(['Channel "chat" allowed bash.'])
  })

  it('take the answer here, and withdraw the question', async () => {
    const { ui, dialogs, asked } = stage()
    const answer = ui.confirm('Run it?', 'ls')
    dialogs[0]!.answer(false)
    expect(await answer).toBe(false)
    expect(asked[0]).toMatchObject({ how: 'answered_here' })
  })

  it('stay open when no verdict comes in time', async () => {
    const { ui, dialogs, asked } = stage()
    const answer = ui.confirm('Run it?', 'ls')
    asked[0]!.settle(undefined)
    await Promise.resolve()
    expect(dialogs[0]!.options?.signal?.aborted).toBe(false)
    dialogs[0]!.answer(true)
    expect(await answer).toBe(true)
  })

  it('keep the options of whoever opened them', async () => {
    const { ui, dialogs, asked } = stage()
    const mine = new AbortController()
    const answer = ui.confirm('Run it?', 'ls', { signal: mine.signal, timeout: 5_000 })
    expect(dialogs[0]!.options?.timeout).toBe(5_000)
    mine.abort()
    expect(await answer).toBe(false)
    expect(asked[0]).toMatchObject({ how: 'answered_here' })
  })

  it.each([
    { choices: ['Yes', 'No'], allowed: 'Yes', denied: 'No' },
    { choices: ['Deny', 'Allow once', 'Always allow'], allowed: 'Allow once', denied: 'Deny' },
    { choices: ['Block', 'allow'], allowed: 'allow', denied: 'Block' },
    {
      choices: ['Yes, this time', 'Yes, and do not ask again', 'No'],
      allowed: 'Yes, this time',
      denied: 'No',
    },
  ])('may be a list with one plain yes and one plain no: $choices', async ({ choices, allowed, denied }) => {
    const { ui, asked } = stage()
    const answers = [ui.select('Run ls?', choices), ui.select('Run ls?', choices)]
    asked[0]!.settle(allow)
    asked[1]!.settle(deny)
    expect(await Promise.all(answers)).toEqual([allowed, denied])
  })

  it('say which call they are about where that is known', async () => {
    const { ctx, asked, dialogs } = stage({ calling: false })
    const answer = confirm(ctx, { toolName: 'new_trigger', input: { a: 1 }, title: 'T', message: 'M' })
    expect(asked).toMatchObject([{ toolName: 'new_trigger', input: { a: 1 }, description: 'T\nM' }])
    dialogs[0]!.answer(true)
    expect(await answer).toBe(true)
    // In a terminal it is read in pages, which the answer from afar closes.
    const drawn = confirm(
      { ...ctx, mode: 'tui' },
      { toolName: 'x', input: {}, title: 'T', message: 'M '.repeat(5_000) },
    )
    await vi.waitUntil(() => dialogs[1])
    expect(asked[1]?.description).toBe(`T\n${'M '.repeat(5_000)}`)
    expect(dialogs[1]).toMatchObject({ kind: 'select', options: { relay: false } })
    asked[1]!.settle(allow)
    expect(await drawn).toBe(true)
    expect([dialogs.length, dialogs[1]!.options?.signal?.aborted]).toEqual([2, true])
    expect(
      await confirm({ ...ctx, hasUI: false }, { toolName: 'x', input: {}, title: '', message: '' }),
    ).toBe(false)
  })
})

describe('dialogs that are not relayed', () => {
  it.each([
    ['when no tool call waits', { calling: false }],
    ['when nobody may be asked', { relaying: false }],
  ])('stay as they are: %s', async (_name, options) => {
    const { ui, dialogs, asked } = stage(options)
    const answer = ui.confirm('Clear?', 'All')
    expect(dialogs).toMatchObject([{ options: undefined }])
    dialogs[0]!.answer(true)
    expect([await answer, asked]).toEqual([true, []])
  })

  it.each([
    [['One', 'Two']],
    [['Yes', 'Maybe']],
    [['Yes', 'Yes', 'No']],
    [['Yes', 'OK', 'No']],
    [['Yes, always', 'No, never']],
    [[]],
  ])('are lists without a plain yes and a plain no: %j', async (choices) => {
    const { ui, dialogs, asked } = stage()
    void ui.select('Choose', choices)
    expect([dialogs.length, asked]).toEqual([1, []])
  })

  it('are those that say so', async () => {
    const { ui, asked, dialogs } = stage()
    void ui.confirm('Trust it?', 'For ever', UNRELAYED)
    void ui.select('Trust it?', ['Yes', 'No'], UNRELAYED)
    expect([dialogs.length, asked]).toEqual([2, []])
  })

  it('are all after the session has ended, and of a user interface that cannot be changed', async () => {
    const ended = stage()
    const held = ended.ui.confirm
    ended.end()
    expect(ended.ui.confirm).toBe(ended.plain.confirm)
    void held('Run it?', 'ls')
    expect([ended.dialogs.length, ended.asked]).toEqual([1, []])
    const frozen = stage({ frozen: true })
    void frozen.ui.confirm('Run it?', 'ls')
    expect([frozen.dialogs.length, frozen.asked]).toEqual([1, []])
    frozen.end()
  })
})
