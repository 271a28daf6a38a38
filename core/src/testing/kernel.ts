import type { TaplineError } from '../errors.ts'
import { files } from '../files/index.ts'
import { createProjects } from '../projects.ts'
import { createKernel, type HookName, type HookPolicy, type Kernel, type Log } from '../kernel/index.ts'
import { loadOAuth } from '../session/index.ts'
import type { ChatMessage, Host } from '../types/index.ts'

/** A kernel for a test, with what it reported and what reached its chat. */
export interface TestKernel {
  readonly kernel: Kernel
  readonly reports: readonly TaplineError[]
  readonly shown: readonly ChatMessage[]
  readonly run: readonly ChatMessage[]
  dispose(): Promise<void>
}

/** What {@link testKernel} takes besides plugins. */
export interface TestKernelOptions {
  readonly host?: Partial<Host>
  readonly options?: Readonly<Record<string, Readonly<Record<string, unknown>>>>
  readonly policies?: Partial<Record<HookName, HookPolicy>>
  /** What plugins log goes nowhere when absent. */
  readonly log?: Log
}

/** A real kernel with one or more plugins and a chat that remembers. */
export async function testKernel(plugins: unknown, options: TestKernelOptions = {}): Promise<TestKernel> {
  const reports: TaplineError[] = []
  const shown: ChatMessage[] = []
  const run: ChatMessage[] = []
  const kernel = await createKernel({
    plugins: Array.isArray(plugins) ? plugins : [plugins],
    host: testHost({
      chat: { show: (message) => void shown.push(message), run: (message) => void run.push(message) },
      ...options.host,
    }),
    report: (error) => reports.push(error),
    ...(options.options ? { options: options.options } : {}),
    ...(options.policies ? { policies: options.policies } : {}),
    ...(options.log ? { log: options.log } : {}),
  })
  return { kernel, reports, shown, run, dispose: () => kernel.dispose() }
}

/** A host that offers nothing but places under `/nowhere`. */
export function testHost(host: Partial<Host> = {}): Host {
  const paths = {
    cwd: '/nowhere',
    home: '/nowhere',
    agentDir: '/nowhere',
    loopsDir: '/nowhere/loops',
    ...host.paths,
  }
  return {
    name: 'test',
    version: '0.0.0',
    mode: 'headless',
    paths,
    projects: createProjects(paths.home),
    env: {},
    files,
    oauth: loadOAuth,
    delivers: true,
    ...host,
  }
}
