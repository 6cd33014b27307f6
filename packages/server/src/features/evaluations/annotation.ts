/** A person's score of a conversation. It never changes; the newest one of an evaluation counts. */
export interface Annotation {
  uuid: string
  conversationUuid: string
  evaluationUuid: string
  versionUuid: string
  authorId: number
  /** As sent. */
  score: number
  /** 0 to 100. */
  normalizedScore: number
  hasPassed: boolean
  metadata: Record<string, unknown>
  createdAt: Date
}
