// What pi loads. pi's loader leaves .mjs files to Node, which strips the types of what is imported here:
// nothing of Tapline is ever transpiled. A module loaded so is one per process and survives /reload.
export { default } from './src/index.ts'
