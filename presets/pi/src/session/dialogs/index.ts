export { confirmIn, inputIn, selectIn } from './dialog.ts'
export { item, theirs } from './marks.ts'
