import {
  createPipeline,
  type DedupRequest,
  type DedupVerdict,
  type DeliverContext,
  type Pipeline,
  type PipelineOptions,
  type Plugin,
  type Receipt,
  type ServerBook,
  type Trigger,
  type TriggerEvent,
} from '../../src/index.ts'
import { testKernel, type TestKernel, type TestKernelOptions } from '../../src/testing/index.ts'
import { trigger } from '../specs.ts'

/** A sink of a test, by the policy that leads to it. */
export type Sink = (
  trigger: Trigger,
  context: DeliverContext,
) => Promise<Receipt | undefined> | Receipt | undefined

/** What {@link routing} takes; everything may be absent. */
export interface Routing extends TestKernelOptions {
  /** Asynchronous ones are marked by their names, which begin with `slow`. */
  readonly sinks?: Readonly<Record<string, Sink>>
  readonly dedup?: (trigger: Trigger, request: DedupRequest) => DedupVerdict | undefined
  readonly plugins?: readonly Plugin[]
  /** The policy is the method's last part when absent. */
  readonly policyFor?: PipelineOptions['policyFor']
  readonly hasCompany?: PipelineOptions['hasCompany']
  readonly sharedLimit?: PipelineOptions['sharedLimit']
}

/** A pipeline in a real kernel, whose policies are the methods' last parts: `notifications/inbox` → `inbox`. */
export async function routing(options: Routing = {}): Promise<{
  readonly pipeline: Pipeline
  readonly kernel: TestKernel
  readonly events: TriggerEvent[]
  readonly missing: string[]
  /** Sends triggers whose trace id is their number. */
  send(policy: string, traceId: string | number, overrides?: Partial<Trigger>): void
}> {
  const events: TriggerEvent[] = []
  const missing: string[] = []
  const sinks: Plugin = {
    name: 'sinks',
    api: 1,
    setup({ hooks }) {
      const { dedup } = options
      if (dedup) hooks.dedup.tap({}, (request) => dedup(request.trigger, request))
      for (const [name, sink] of Object.entries(options.sinks ?? {})) {
        if (name.startsWith('slow')) hooks.deliver.sink(name).tapPromise({}, async (...args) => sink(...args))
        else hooks.deliver.sink(name).tap({}, sink as (...args: Parameters<Sink>) => Receipt | undefined)
      }
      hooks.deliver.observe((event) => void events.push(event))
    },
  }
  const kernel = await testKernel([sinks, ...(options.plugins ?? [])], options)
  const pipeline = createPipeline({
    kernel: kernel.kernel,
    policyFor: options.policyFor ?? ((_server, method) => method.slice(method.lastIndexOf('/') + 1)),
    ...(options.hasCompany ? { hasCompany: options.hasCompany } : {}),
    ...(options.sharedLimit ? { sharedLimit: options.sharedLimit } : {}),
    onMissingSink: (policy, server) => missing.push(`${policy} of ${server}`),
  })
  const send = (policy: string, traceId: string | number, overrides: Partial<Trigger> = {}): void =>
    pipeline.admit(
      trigger({
        method: `notifications/${policy}`,
        traceId: String(traceId),
        key: String(traceId),
        ...overrides,
      }),
    )
  return { pipeline, kernel, events, missing, send }
}

/** What the books say came in, and what they say became of it: equal at every moment. */
export function balance({ counts }: ServerBook): readonly [number, number] {
  const { received, delivered, redirected, deduped, collapsed, dropped, pending } = counts
  return [received, delivered + redirected + deduped + collapsed + dropped + pending]
}

/** One line for each step: trace id, state, and sink or reason. */
export function steps(events: readonly TriggerEvent[]): string[] {
  return events.map(({ traceId, state, sink, reason }) =>
    [traceId, state, sink, reason].filter(Boolean).join(' '),
  )
}

/** A promise and what settles it. */
export function gate<T = void>(): { readonly opened: Promise<T>; open(value: T): void } {
  let open: (value: T) => void = () => undefined
  const opened = new Promise<T>((resolve) => (open = resolve))
  return { opened, open: (value) => open(value) }
}
