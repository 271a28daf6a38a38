// Answers every request; some methods make it misbehave.
import { createInterface } from 'node:readline'

const answer = (id, result) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, result })}\n`)
const methods = {
  echo: (params) => params,
  env: () => process.env,
  cwd: () => process.cwd(),
  exit: ({ code }) => process.exit(code),
  die: ({ signal }) => process.kill(process.pid, signal),
  raw: ({ base64, times = 1 }) =>
    process.stdout.write(Buffer.from(base64, 'base64').toString('latin1').repeat(times), 'latin1'),
  stderr: ({ text }) => process.stderr.write(text),
}

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params = {} } = JSON.parse(line)
  const result = methods[method](params)
  if (id !== undefined) answer(id, result ?? null)
})
