// Asks the keychain of its environment for the credential that its argument names, as a process around the plugin does.
import { systemKeychain } from '../../src/index.ts'

console.log(await systemKeychain(process.env).read(process.argv[2] ?? ''))
