// Adds one to the number in a file, again and again: count.ts <path> <times>
import { jsonFile } from '@tapline/core'

const [path = '', times = '1'] = process.argv.slice(2)
const file = jsonFile<{ readonly count: number; readonly filling: string }>({
  path,
  empty: () => ({ count: 0, filling: '' }),
  accepts: (content): content is { count: number; filling: string } =>
    typeof (content as { count?: unknown } | null)?.count === 'number',
})
for (let left = Number(times); left > 0; left--) {
  await file.update(({ count }) => ({ count: count + 1, filling: String(count + 1).repeat(5_000) }))
}
