import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { transcript } from '../../drivers/chat.ts'
import type { Pi } from '../../drivers/pi.ts'
import { waitUntil } from '../../drivers/processes.ts'
import { createStage, PATIENCE_MS, type Stage } from '../stage.ts'

const file = (stage: Stage): string => path.join(stage.scratch.agent, 'loops', 'tapline-cron.json')

/** What a command of `/cron` answers. */
async function cron(pi: Pi, line: string): Promise<string> {
  const answers = await pi.command(`/cron ${line}`)
  return answers.join('\n')
}

function inChat(pi: Pi): string[] {
  return pi.events.flatMap(({ type, message }) =>
    type === 'message_end' && message?.customType === 'tapline:push' ? [String(message.content)] : [],
  )
}

async function chatHolds(pi: Pi, count: number): Promise<string[]> {
  await waitUntil(
    () => inChat(pi).length >= count,
    PATIENCE_MS,
    () => `${count} in the chat: ${inChat(pi).join('\n')}`,
  )
  return inChat(pi)
}

// Most of the time they wait.
describe.concurrent('/cron in the real pi', () => {
  it('starts exactly one turn for a job that is due, in the words of the user', async () => {
    await using stage = await createStage()
    const pi = await stage.start()
    const added = await cron(pi, 'add in 1s --name "the build" check the build and tell me')
    expect(added).toMatch(
      /^Added job-[0-9a-f]{8} "the build": in 1s → run\n {2}text: check the build and tell me\n/,
    )
    expect(added).toMatch(
      /\n {2}next: \w{3} \d{4}-\d\d-\d\d \d\d:\d\d:?\d*\n {2}Each time it starts one turn, which costs tokens/,
    )
    const request = await stage.model.waitForRequest(() => true, PATIENCE_MS)
    expect(transcript(request)).toMatch(
      /\[Trigger [\w-]{36}\] Scheduled job "the build" \(in 1s\) is due\. The user wrote it down for this moment:\ncheck the build and tell me$/m,
    )
    await waitUntil(async () => !(await pi.send('get_state')).data.isStreaming, PATIENCE_MS)
    expect(await cron(pi, 'list')).toMatch(
      /1\. job-\w+ "the build": in 1s → run · disabled · 1 run · last \d{4}/,
    )
    expect(stage.model.requests()).toHaveLength(1)
    expect(JSON.parse(readFileSync(file(stage), 'utf8')).jobs).toMatchObject([{ enabled: false, runs: 1 }])
    expect(pi.stderr).toBe('')
  })

  it('only shows a job that goes to summary, while the agent works too', async () => {
    await using stage = await createStage()
    const pi = await stage.start()
    const held = pi.prompt('HOLD on')
    await stage.model.held('on')
    expect(await cron(pi, 'add --to summary in 1s stand up')).toContain('no model is called')
    await waitUntil(
      async () => (await cron(pi, 'list')).includes('1 run'),
      PATIENCE_MS,
      'the job to have run while the agent works',
    )
    stage.model.release('on')
    await held
    expect(await chatHolds(pi, 1)).toEqual([
      expect.stringMatching(/^\[Trigger [\w-]{36}\] Scheduled job "job-\w+" \(in 1s\): stand up$/),
    ])
    expect(stage.model.requests()).toHaveLength(1)
  })

  it('lists, disables, enables, runs and removes by number, id and name', async () => {
    await using stage = await createStage()
    const pi = await stage.start()
    expect(await cron(pi, '')).toBe('No scheduled jobs in this project.')
    expect(existsSync(file(stage))).toBe(false)
    await cron(pi, 'add "*/5 * * * *" --to=summary --name tests look at the tests')
    await cron(pi, 'add every 30m --to log look at the logs')
    const listed = await cron(pi, 'list')
    expect(listed.split('\n')).toEqual([
      'Scheduled jobs of this project (2):',
      expect.stringMatching(
        /^ {2}1\. job-\w{8} "tests": \*\/5 \* \* \* \* → summary · next \w{3} \d{4}-.* · 0 runs$/,
      ),
      '       look at the tests',
      expect.stringMatching(/^ {2}2\. job-\w{8}: every 30m → log · next .* · 0 runs$/),
      '       look at the logs',
    ])
    expect(await cron(pi, 'disable 2')).toMatch(/^Disabled job-\w+: every 30m → log$/)
    expect(await cron(pi, 'list')).toMatch(/2\. job-\w{8}: every 30m → log · disabled/)
    expect(await cron(pi, 'enable 2')).toMatch(/^Enabled job-.*\n {2}next: .* · .* · /)
    expect(await cron(pi, 'run tests')).toMatch(/^Running job-\w+ "tests"/)
    expect(await chatHolds(pi, 1)).toEqual([
      expect.stringMatching(/"tests" \(\*\/5 \* \* \* \*\): look at the tests$/),
    ])
    const id = /1\. (job-\w{8})/.exec(listed)?.[1] ?? ''
    expect(await cron(pi, `rm ${id}`)).toMatch(/^Removed job-\w+ "tests": .*\n {2}text: look at the tests$/)
    expect(await cron(pi, 'remove 1')).toContain('look at the logs')
    expect(await cron(pi, 'list')).toBe('No scheduled jobs in this project.')
    expect(stage.model.requests()).toEqual([])
  })

  it('says what it did not understand', async () => {
    await using stage = await createStage()
    const pi = await stage.start()
    for (const [line, message] of [
      ['add', /^Usage:\n {2}\/cron add <schedule>/],
      ['add check the build', /^A schedule is expected first: "\*\/5 \* \* \* \*", @daily, every 30m/],
      ['add every monday check', /^"every monday" needs a length/],
      ['add 0 0 31 2 * never', /never comes, or is over/],
      ['add every 30m', /^A job needs a text/],
      ['add every 30m --to desktp check', /^No plugin provides the sink "desktp"\. There are run, summary/],
      [
        'add every 30m --to channel check',
        /^The sink "channel" takes messages of channels alone\. There are run,/,
      ],
      ['add every 30m --too x check', /^There is no option --too/],
      ['add every day at 9:00 check', /^"every day at 9:00" is not understood: .*"0 9 \* \* \*"/],
      ['remove', /^Which job\?/],
      ['remove 3', /^This project has no scheduled job number 3/],
      ['run nothing', /^No scheduled job is "nothing"/],
      ['frobnicate', /^unknown \/cron command: frobnicate\. usage: \/cron \[list\|add\|/],
      ['help', /^Usage:/],
    ] as const)
      expect(await cron(pi, line)).toMatch(message)
    expect(existsSync(file(stage))).toBe(false)
    expect(await cron(pi, "add every 30m 'check --to summary'")).toContain('Options in the text are text')
    expect(await cron(pi, 'add every 30m -- --verbose')).toContain('text: --verbose')
  })

  it('goes on in the next session, with what was missed as one event', async () => {
    await using stage = await createStage()
    const first = await stage.start()
    await cron(first, 'add every 10s --to summary look')
    await first.close()
    const { jobs } = JSON.parse(readFileSync(file(stage), 'utf8'))
    const hourAgo = new Date(Date.now() - 3_600_000 - 5_000).toISOString()
    stage.scratch.write('agent/loops/tapline-cron.json', {
      version: 1,
      jobs: [{ ...jobs[0], schedule: 'every 10m', createdAt: hourAgo, enabledAt: hourAgo }],
    })
    const second = await stage.start()
    // Nothing but the file says that there is something to load.
    expect(await chatHolds(second, 1)).toEqual([
      expect.stringMatching(/: look \[5 ticks missed since \d{4}-.*\]$/),
    ])
    expect(stage.model.requests()).toEqual([])
  })

  it('fires once with several windows in one project, and in the project of the job', async () => {
    await using stage = await createStage()
    stage.scratch.write('other/keep', '')
    const own = [await stage.start(), await stage.start()]
    const other = await stage.start({ cwd: path.join(stage.scratch.root, 'other') })
    await cron(other, 'list')
    await cron(own[0]!, 'list')
    await cron(own[1]!, 'add in 2s --to summary once')
    const shown = (): string[] => own.flatMap(inChat)
    await waitUntil(() => shown().length > 0, PATIENCE_MS, 'the job to come')
    expect(await cron(other, 'list')).toBe(
      'No scheduled jobs in this project.\n+ 1 in other projects (/cron list --all)',
    )
    expect(await cron(other, 'list --all')).toMatch(
      /In other projects \(1\):\n {2}- job-\w+: in 2s → summary · disabled · 1 run/,
    )
    await Promise.all([...own, other].map((pi) => pi.close()))
    expect(shown()).toHaveLength(1)
    expect(inChat(other)).toEqual([])
  })

  it('goes to the inbox while nobody has its project open, once', async () => {
    await using stage = await createStage()
    stage.scratch.write('gone/keep', '')
    const gone = path.join(stage.scratch.root, 'gone')
    const owner = await stage.start({ cwd: gone })
    await cron(owner, 'add every 10s look')
    await owner.close()
    const leader = await stage.start()
    const inbox = path.join(stage.scratch.agent, 'loops', 'inbox.jsonl')
    await waitUntil(() => existsSync(inbox), PATIENCE_MS, 'an entry of the inbox')
    expect(readFileSync(inbox, 'utf8')).toMatch(
      /look \[(?:\d ticks? missed since [^\]]+; )?no pi is open in gone\]/,
    )
    expect(await cron(leader, 'list --all')).toContain('waits for a pi in its project')
    expect(stage.model.requests()).toEqual([])
  })

  it('prints what stands in the file without what steers a terminal', async () => {
    await using stage = await createStage()
    const job = {
      id: 'job-\u001b[2Jx',
      name: 'n\u001b]0;title\u0007\u202e',
      schedule: 'every 30m\u001b[31m',
      text: 'look\u001b[2J\nat it',
      deliver: 'log\u001b[1m',
      cwd: path.join(stage.scratch.root, 'evil\u001b[2J'),
      enabled: true,
      createdAt: new Date().toISOString(),
      enabledAt: new Date().toISOString(),
      runs: 0,
    }
    const { cwd: _elsewhere, ...rest } = job
    const own = { ...rest, id: 'job-\u001b[3Jy', cwd: stage.scratch.project }
    stage.scratch.write('agent/loops/tapline-cron.json', { version: 1, jobs: [own, job] })
    const pi = await stage.start()
    const listed = await cron(pi, 'list --all')
    expect(listed).toMatch(/1\. job-y "n": every 30m → log · .*\n {7}look at it\n/)
    expect(listed).toMatch(/- job-x "n": .*\n {7}look at it\n {7}in \S+evil$/m)
    expect(await cron(pi, 'remove 1')).toMatch(/^Removed job-y "n"[^]*text: look\nat it$/)
    // oxlint-disable-next-line no-control-regex -- that is what must not be there.
    expect(pi.notices().join('\n')).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/)
  })

  it('is a source like the servers, with books', async () => {
    await using stage = await createStage()
    const pi = await stage.start()
    await cron(pi, 'add every 30m --to log look')
    await cron(pi, 'run 1')
    const sources = (await pi.command('/triggers sources')).join('\n')
    expect(sources).toMatch(
      /connected queued=0 dropped=0 deduped=0 last_event=20.*\n +subscriptions: local crontab: 1 job\(s\), 1 enabled\n/,
    )
    expect(sources).toMatch(/received=1 = delivered=1 \+ /)
  })
})
