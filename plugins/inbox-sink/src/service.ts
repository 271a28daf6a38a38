import type { Chat } from '@tapline/core'
import { frameFinding } from './framing.ts'
import type { Inbox, Triage } from './inbox.ts'

/** What became of a claim that was to start a turn. `onlyShown` says why the chat started none. */
export type ChatClaim = Triage & { readonly onlyShown?: string }

/** The inbox as a running Tapline offers it. */
export interface InboxService {
  readonly inbox: Inbox
  /**
   * Claims a finding and starts one turn with it, framed as data from outside. Where the chat refuses the turn, the
   * finding is only shown, for the next prompt to take along. Absent where there is no chat; rejects when the chat has
   * ended, and then the finding is claimed all the same.
   */
  readonly claimInChat?: (id: string, by?: string) => Promise<ChatClaim>
}

export function inboxService(inbox: Inbox, chat: Chat | undefined): InboxService {
  if (!chat) return { inbox }
  return {
    inbox,
    claimInChat: async (id, by) => {
      const triage = await inbox.claim(id, by)
      if (!triage.done) return triage
      const { run_id: traceId, source: server } = triage.entry
      const message = { text: frameFinding(triage.entry), traceId, server, method: 'inbox', asked: true }
      try {
        chat.run(message)
        return triage
      } catch (thrown) {
        chat.show(message)
        return { ...triage, onlyShown: thrown instanceof Error ? thrown.message : String(thrown) }
      }
    },
  }
}
