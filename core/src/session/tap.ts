import type { Frame, SendOptions, Transport } from '../types/index.ts'

/** What the session hears of a connection below the SDK. */
export interface TapHandlers {
  /** Sees each frame first. True: the frame ends here and never enters the SDK. */
  onFrame(frame: Frame): boolean
  /** The frame as the SDK is to see it. */
  amended(frame: Frame): Frame
  onSend?(frame: Frame): void
  onClose(): void
}

/**
 * A transport for the SDK that shows every frame to the session first. It has `pid` and `stderr`
 * exactly when the inner one has, since that is how the SDK knows a child process.
 */
export function tapTransport(inner: Transport, handlers: TapHandlers): Transport {
  const outer: Transport = {
    start: () => inner.start(),
    send: (frame: Frame, options?: SendOptions) => {
      handlers.onSend?.(frame)
      return inner.send(frame, options)
    },
    close: () => inner.close(),
    get sessionId() {
      return inner.sessionId
    },
    ...(inner.hasPerRequestStream === undefined ? {} : { hasPerRequestStream: inner.hasPerRequestStream }),
    ...(inner.setProtocolVersion
      ? { setProtocolVersion: (version: string) => inner.setProtocolVersion?.(version) }
      : {}),
    ...(inner.setSupportedProtocolVersions
      ? {
          setSupportedProtocolVersions: (versions: string[]) =>
            inner.setSupportedProtocolVersions?.(versions),
        }
      : {}),
  }
  for (const name of ['pid', 'stderr'] as const) {
    if (name in inner) Object.defineProperty(outer, name, { get: () => inner[name], enumerable: true })
  }
  inner.onmessage = (frame, extra) => {
    if (!handlers.onFrame(frame)) outer.onmessage?.(handlers.amended(frame), extra)
  }
  inner.onerror = (error) => outer.onerror?.(error)
  inner.onclose = () => {
    // First: what the SDK rejects now, it rejects because there is no connection any more.
    handlers.onClose()
    outer.onclose?.()
  }
  return outer
}
