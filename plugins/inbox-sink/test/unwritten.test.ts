import { expect, it } from 'vitest'
import { Unwritten } from '../src/unwritten.ts'
import { finding } from './place.ts'

it('writes in order also what came while the first one was being refused', async () => {
  const written: string[] = []
  const lost: unknown[] = []
  const unwritten = new Unwritten({
    onHeld: () => undefined,
    onWritten: () => undefined,
    onLost: (one) => void lost.push(one),
  })
  let refuses = true
  const write = async (text: string): Promise<void> => {
    await Promise.resolve()
    if (text === 'one' && refuses) {
      refuses = false
      throw new Error('the disk is full')
    }
    written.push(text)
  }
  await Promise.all(['one', 'two', 'three'].map((text) => unwritten.keep(finding(text), () => write(text))))
  await unwritten.end()
  expect(written).toEqual(['one', 'two', 'three'])
  expect(lost).toEqual([])
})
