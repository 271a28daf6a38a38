import type { Server, Tapline } from '@tapline/headless'

/** Somebody may sign in or out elsewhere: what is known is looked up again after this long, in milliseconds. */
const FRESH_MS = 1_000

/** Of which servers tokens are stored, as far as that is known without waiting. */
export class KnownSignIns {
  readonly #tapline: Pick<Tapline, 'services'>
  readonly #changed: () => void
  readonly #known = new Map<string, { readonly isSignedIn: boolean; readonly at: number }>()
  readonly #asking = new Set<string>()

  /** `changed` is told when something else is known. */
  constructor(tapline: Pick<Tapline, 'services'>, changed: () => void) {
    this.#tapline = tapline
    this.#changed = changed
  }

  /** Whether somebody is signed in to this server; false while that is being looked up for the first time. */
  has(server: Server): boolean {
    const known = this.#known.get(server.spec.name)
    if (known === undefined || Date.now() - known.at > FRESH_MS) void this.#ask(server)
    return known?.isSignedIn === true
  }

  async #ask({ spec }: Server): Promise<void> {
    const { name } = spec
    const { signIns } = this.#tapline.services
    if (!signIns?.uses(spec) || this.#asking.has(name)) return
    this.#asking.add(name)
    const isSignedIn = await signIns.isSignedIn(spec).catch(() => false)
    this.#asking.delete(name)
    const before = this.#known.get(name)?.isSignedIn ?? false
    this.#known.set(name, { isSignedIn, at: Date.now() })
    if (before !== isSignedIn) this.#changed()
  }
}
