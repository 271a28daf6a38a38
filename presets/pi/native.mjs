// pi's loader leaves .mjs files to Node, so what is imported here is loaded natively, once per process.
export { openSession } from './src/session/session.ts'
