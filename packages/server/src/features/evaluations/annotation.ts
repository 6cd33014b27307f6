/** The score that somebody gave a conversation; it is never changed, the newest of an evaluation counts. */
export interface Annotation {
  uuid: string
  conversationUuid: string
  evaluationUuid: string
  versionUuid: string
  authorId: number
  /** As it was sent. */
  score: number
  /** 0 to 100. */
  normalizedScore: number
  hasPassed: boolean
  metadata: Record<string, unknown>
  createdAt: Date
}
