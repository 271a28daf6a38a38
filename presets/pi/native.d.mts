export { openSession } from './src/session/session.ts'
