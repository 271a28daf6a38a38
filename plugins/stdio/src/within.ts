/** Whether `promise` settled within so many milliseconds. */
export async function within(promise: Promise<unknown>, milliseconds: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<boolean>((resolve) => (timer = setTimeout(resolve, milliseconds, false)))
  const inTime = promise.then(
    () => true,
    () => true,
  )
  try {
    return await Promise.race([inTime, late])
  } finally {
    clearTimeout(timer)
  }
}
