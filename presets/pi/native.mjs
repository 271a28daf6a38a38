// What is loaded after a session has started. A module of its own, because pi's loader transpiles what it
// is given in TypeScript, and leaves .mjs files to Node: so src/index.ts may also be loaded by itself.
export { openSession } from './src/session/session.ts'
