/** `body` that fails with `tooLarge()` as soon as it exceeds `limit` bytes. */
export function capBody(
  body: ReadableStream<Uint8Array>,
  limit: number,
  tooLarge: () => Error,
): ReadableStream<Uint8Array> {
  let bytes = 0
  return body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        bytes += chunk.byteLength
        if (bytes > limit) throw tooLarge()
        controller.enqueue(chunk)
      },
    }),
  )
}

/** The body as text, or undefined when it is longer than `limit` bytes or breaks off. */
export async function boundedText(response: Response, limit: number): Promise<string | undefined> {
  if (response.body === null) return ''
  try {
    return await new Response(capBody(response.body, limit, () => new RangeError('too large'))).text()
  } catch {
    return undefined
  }
}
