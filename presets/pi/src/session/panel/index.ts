import { join } from 'node:path'
import type { ExtensionContext } from '@earendil-works/pi-coding-agent'
import { files, type HostPaths, type Plugin } from '@tapline/core'
import type { Tapline } from '@tapline/headless'
import { createArrivals } from './arrivals.ts'
import { panelLines } from './lines.ts'

const WIDGET = 'tapline:pushes'
/** However much arrives, it is drawn once in this time, in milliseconds. */
const DRAW_MS = 500
/** Without any change it moves on by itself, in milliseconds. */
const MOVE_MS = 30_000

/** The panel of pushes above the editor. */
export interface Panel {
  /** Sees pushes go by, whether the panel is shown or not. */
  readonly plugin: Plugin
  /** Follows this Tapline from now on. */
  use(tapline: Tapline): void
  /** Shows or hides it, in this and in later sessions. */
  turn(on: boolean): void
  close(): void
}

/** The panel of one session, shown if it was when it was last turned on or off. */
export function createPanel(ctx: ExtensionContext, { agentDir }: Pick<HostPaths, 'agentDir'>): Panel {
  const arrivals = createArrivals()
  const seen = new Map<string, number>()
  const setting = files.json<{ readonly shown: boolean }>({
    path: join(agentDir, 'tapline', 'panel.json'),
    empty: () => ({ shown: false }),
    accepts: (content): content is { shown: boolean } =>
      typeof content === 'object' &&
      content !== null &&
      typeof (content as { shown?: unknown }).shown === 'boolean',
  })
  let tapline: Tapline | undefined
  let shown = ctx.hasUI && isShown()
  let drawing: NodeJS.Timeout | undefined
  let stopFollowing: (() => void) | undefined
  let closed = false

  function isShown(): boolean {
    try {
      return setting.read().shown
    } catch {
      return false
    }
  }
  const draw = (): void => {
    drawing = undefined
    if (closed || !shown || !tapline) return
    const { servers, services } = tapline
    const enabled = servers.filter(({ spec }) => spec.enabled).map(({ spec }) => spec.name)
    put([...panelLines(arrivals, enabled, services.rules?.status(), Date.now())])
  }
  const put = (lines: string[] | undefined): void => {
    try {
      ctx.ui.setWidget(WIDGET, lines)
    } catch {
      // The session has ended.
    }
  }
  const soon = (): void => {
    if (shown && !closed) drawing ??= setTimeout(draw, DRAW_MS).unref()
  }
  const moving = setInterval(soon, MOVE_MS).unref()
  return {
    plugin: {
      name: 'pi-panel',
      api: 1,
      setup({ hooks }) {
        hooks.deliver.observe(({ server }) => {
          // A step may stand for several arrivals, or for none: the books know.
          const received = tapline?.pipeline.book(server).received ?? 0
          const since = received - (seen.get(server) ?? 0)
          if (since > 0) arrivals.add(server, since, Date.now())
          seen.set(server, received)
          soon()
          return undefined
        })
      },
    },
    use: (next) => {
      tapline = next
      seen.clear()
      stopFollowing?.()
      stopFollowing = next.services.rules?.onChange(soon)
      draw()
    },
    turn: (on) => {
      shown = on
      if (on) draw()
      else put(undefined)
      // The panel itself does not depend on it.
      void setting.update(() => ({ shown: on })).catch(() => undefined)
    },
    close: () => {
      closed = true
      clearTimeout(drawing)
      clearInterval(moving)
      stopFollowing?.()
      if (shown) put(undefined)
    },
  }
}
