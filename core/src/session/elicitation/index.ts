export { Questions } from './questions.ts'
