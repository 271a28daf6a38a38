import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { toolNames, transcript } from './chat.ts'
import { startFakeModel } from './fake-model.ts'
import { isolatedEnv, preparePi } from './pi-process.ts'
import { jsonLines, runPi } from './pi-run.ts'
import { startPi } from './pi.ts'
import { createScratch } from './scratch.ts'
import { startTerminal } from './terminal.ts'

const extension = `
export default (pi) => {
  pi.registerCommand('greet', {
    handler: async (_args, ctx) => {
      const name = await ctx.ui.input('Who?')
      ctx.ui.notify(\`Hello \${name}\`, 'info')
      ctx.ui.notify((await ctx.ui.confirm('Sure?', 'Really?')) ? 'sure' : 'unsure', 'info')
    },
  })
}`

describe('pi with the fake model', () => {
  it('prints what the model says', async () => {
    await using model = await startFakeModel()
    const run = await runPi(['-p', '--no-session', 'hello there'], { model, tmp: 'shared' })
    expect(run).toMatchObject({ code: 0, stdout: expect.stringContaining('ECHO[user]: hello there') })
    expect(toolNames(model.requests()[0]!)).toContain('bash')
  })

  it('writes records in JSON mode, in an environment of its own', async () => {
    await using model = await startFakeModel()
    await using scratch = createScratch({ tmp: 'shared' })
    vi.stubEnv('PI_LOOPS_DIR', '/elsewhere')
    onTestFinished(() => void vi.unstubAllEnvs())
    expect(isolatedEnv(scratch, { LANG: undefined })).not.toHaveProperty('PI_LOOPS_DIR')
    const run = await runPi(['--mode', 'json', 'SLOW 2'], { model, scratch })
    expect(jsonLines(run.stdout).map(({ type }) => type)).toContain('agent_settled')
  })

  it('drives a session: prompts, held streams, commands, dialogs', async () => {
    await using model = await startFakeModel()
    await using scratch = createScratch({ tmp: 'shared' })
    const file = scratch.write('greet.ts', extension)
    await using pi = await startPi({ model, scratch, args: ['-e', file] })

    model.script([{ toolCalls: [{ name: 'bash', args: { command: 'echo from-bash' } }] }])
    await pi.prompt('run it')
    expect(transcript(model.requests().at(-1)!)).toContain('tool: from-bash')

    const held = pi.prompt('HOLD here')
    await model.held('here')
    expect((await pi.send('get_state')).data.isStreaming).toBe(true)
    model.release('here')
    await held

    pi.answer(({ method }) => (method === 'input' ? 'Tapline' : true))
    expect(await pi.command('/greet')).toEqual(['Hello Tapline', 'sure'])
    await expect(pi.command('/nothing')).rejects.toThrow('no command')

    const never = pi.waitFor((event) => event.type === 'never')
    await Promise.all([expect(never).rejects.toThrow('pi ended with SIGKILL'), pi.kill()])
    await expect(pi.send('get_state')).rejects.toThrow('pi ended with SIGKILL')
  })

  it('rejects at once, with the reason, when pi cannot start', async () => {
    await using scratch = createScratch({ tmp: 'shared' })
    const file = scratch.write('broken.ts', "throw new Error('broken on purpose')")
    await expect(startPi({ scratch, args: ['-e', file] })).rejects.toThrow('broken on purpose')
  })

  it('shows its terminal interface', async () => {
    await using model = await startFakeModel()
    const pi = preparePi({ model, tmp: 'shared' })
    onTestFinished(() => pi.dispose())
    await using terminal = await startTerminal(pi)
    await terminal.waitForScreen(/fake-1/)
    await terminal.submit('hello terminal')
    await terminal.waitForScreen(/ECHO\[user\]: hello terminal/)
    await terminal.key('C-d')
    expect(await terminal.waitForExit()).toBe(0)
  })
})
