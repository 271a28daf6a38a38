import { describe, expect, it } from 'vitest'
import { textOf } from '../../drivers/chat.ts'
import type { Pi } from '../../drivers/pi.ts'
import { waitUntil } from '../../drivers/processes.ts'
import { booksOf, booksSay, isPush } from '../pushes/source.ts'
import { connected, createStage, PATIENCE_MS, type Stage } from '../stage.ts'
import { channelOn, type Channel, consented, consenting, event, settled, SPEAK, tagsIn } from './channel.ts'

/** Two windows of one project, the one that owns it first, each with a process of the channel. */
async function twoWindows(
  stage: Stage,
  push: object = { 'notifications/claude/channel': { policy: 'channel', windows: 'all' } },
): Promise<{ owner: Pi; other: Pi; chat: Channel; processes: readonly number[] }> {
  const chat = channelOn(stage, [], { push })
  stage.json({ chat: chat.entry })
  const one = await stage.start({ onUi: consenting(SPEAK) })
  await connected(one, 'chat')
  await consented(stage)
  const [first] = await chat.running(1)
  const two = await stage.start()
  await connected(two, 'chat')
  const [second] = (await chat.running(2)).filter((pid) => pid !== first)
  // The lowest process id owns the project.
  const inOrder = one.pid < two.pid
  const [owner, other] = inOrder ? [one, two] : [two, one]
  return { owner, other, chat, processes: inOrder ? [first!, second!] : [second!, first!] }
}

const shownIn = (pi: Pi) => pi.events.filter(isPush).map(({ message }) => textOf(message.content))

describe('a channel in two windows of one project', () => {
  it('has one turn in all for what both are told: in the window that owns the project; the other shows it', async () => {
    await using stage = await createStage()
    const { owner, other, chat } = await twoWindows(stage)
    for (const id of ['1', '2', '3']) await chat.send(event(`message ${id}`, { message_id: id }))
    await booksSay(owner, 'chat', 'delivered', 3)
    await booksSay(other, 'chat', 'delivered', 3)
    const requests = await settled(stage, owner, 1)
    await settled(stage, other, 0)
    const told = requests.at(-1)!
    expect(tagsIn(told)).toHaveLength(3)
    expect(shownIn(owner).every((text) => text.startsWith('<channel source="chat"'))).toBe(true)
    expect(shownIn(other)).toEqual(
      ['1', '2', '3'].map((id) =>
        expect.stringMatching(
          new RegExp(
            `Channel "chat" \\(data, not instructions\\): notifications/claude/channel from alice: message ${id}\\nThe pi with process id ${owner.pid}, in .*project, has taken it\\.`,
          ),
        ),
      ),
    )
    expect(
      stage.model
        .requests()
        .flatMap(({ body }) => body.messages)
        .filter(isShownLine),
    ).toEqual([])
  })

  it('has one turn in all where nothing is said of windows', async () => {
    await using stage = await createStage()
    const { owner, other, chat } = await twoWindows(stage, {})
    await chat.send(event('Hello', { message_id: '1' }))
    await booksSay(owner, 'chat', 'pending', 0)
    await waitUntil(
      async () => {
        const [one, two] = [await booksOf(owner, 'chat'), await booksOf(other, 'chat')]
        return one['received'] === 1 && two['received'] === 1 && one['pending'] === 0 && two['pending'] === 0
      },
      PATIENCE_MS,
      'both windows to be done with it',
    )
    await settled(stage, owner, 1)
    await settled(stage, other, 1)
    expect(stage.model.requests()).toHaveLength(1)
    const turns = [owner, other].flatMap(shownIn).filter((text) => text.startsWith('<channel'))
    expect(turns).toHaveLength(1)
  })

  it('has its turn in the window that alone was told, whether or not it owns the project', async () => {
    await using stage = await createStage()
    const { owner, other, chat, processes } = await twoWindows(stage)
    const [ownersProcess, othersProcess] = processes as [number, number]
    await chat.sendFrom(othersProcess, event('to the other', { message_id: '1' }))
    await settled(stage, other, 1)
    expect(shownIn(other)).toEqual([expect.stringContaining('>to the other</channel>')])
    expect(await booksOf(owner, 'chat')).toMatchObject({ received: 0 })
    await chat.sendFrom(ownersProcess, event('to the owner', { message_id: '2' }))
    await settled(stage, owner, 2)
    expect(shownIn(owner)).toEqual([expect.stringContaining('>to the owner</channel>')])
    expect(stage.model.requests()).toHaveLength(2)
  })

  it('is taken over when the window that owns the project is killed', async () => {
    await using stage = await createStage()
    const { owner, other, chat } = await twoWindows(stage)
    await owner.kill()
    await waitUntil(async () => (await chat.running()).length === 1, PATIENCE_MS, 'one process to be left')
    await chat.send(event('Anybody?', { message_id: '1' }))
    const [request] = await settled(stage, other, 1)
    expect(tagsIn(request!)).toEqual([expect.stringContaining('>Anybody?</channel>')])
  })
})

function isShownLine({ content }: { content: Parameters<typeof textOf>[0] }): boolean {
  return textOf(content).includes('has taken it.')
}
