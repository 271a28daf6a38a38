import type { EventFrames } from './event-frames.ts'

/** A body that never ends by itself: whole events are written to it, from one response after another. */
export interface EventSink {
  readonly readable: ReadableStream<Uint8Array>
  write(event: Uint8Array): Promise<void>
  end(): void
}

/** Opens such a body. */
export function createEventSink(): EventSink {
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>()
  const writer = writable.getWriter()
  writer.closed.catch(() => undefined)
  return {
    readable,
    write: (event) => writer.write(event),
    end: () => void writer.close().catch(() => undefined),
  }
}

/** Writes the events of `body` until it ends; throws what breaks it. Frees the connection either way. */
export async function copyEvents(
  body: ReadableStream<Uint8Array> | null,
  frames: EventFrames,
  write: EventSink['write'],
  onLife: () => void,
): Promise<void> {
  if (body === null) return
  for await (const chunk of body) {
    onLife()
    for (const frame of frames.push(chunk)) await write(frame)
  }
}

/** The media type of a response is that of an event stream. */
export function isEventStream(response: Response): boolean {
  return /^\s*text\/event-stream\s*(?:;|$)/i.test(response.headers.get('content-type') ?? '')
}
