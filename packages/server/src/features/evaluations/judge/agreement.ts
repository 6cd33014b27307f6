/** How often a judge agrees with people, over the answers that both have judged. */
import type { Author } from '../../../shared/caller.ts'
import { wilsonInterval } from '../../../shared/wilson.ts'

/** An answer with a person's label and the judge's verdict. */
export interface JudgedAnswer {
  conversationUuid: string
  label: { hasPassed: boolean; reason: string | null; author: Author | null; createdAt: Date }
  verdict: { hasPassed: boolean; reason: string | null }
}

export interface AgreementRate {
  labeled: number
  agreed: number
  /** Null without labels. */
  rate: number | null
  low: number
  high: number
}

export interface Agreement {
  /** Of the answers that people passed, those that the judge passes. */
  truePass: AgreementRate
  /** Of the answers that people failed, those that the judge fails. */
  trueFail: AgreementRate
  isShown: boolean
  /** Labels that were made before the judge's last edit. They helped to write it, so they do not count. */
  beforeEdit: number
  disagreements: JudgedAnswer[]
}

const shownAgreement = { labels: 10, rate: 0.8 } as const

const mostDisagreements = 100

/** @param editedAt when the judge was last edited. */
export function agreementOf(answers: readonly JudgedAnswer[], editedAt: Date | null): Agreement {
  const isLater = ({ label }: JudgedAnswer): boolean => editedAt === null || label.createdAt >= editedAt
  const counted = answers.filter(isLater)
  const rateOf = (hasPassed: boolean): AgreementRate => {
    const labeled = counted.filter(({ label }) => label.hasPassed === hasPassed)
    const agreed = labeled.filter(({ verdict }) => verdict.hasPassed === hasPassed).length
    const { low, high } = wilsonInterval(agreed, labeled.length) ?? { low: 0, high: 1 }
    const rate = labeled.length === 0 ? null : agreed / labeled.length
    return { labeled: labeled.length, agreed, rate, low, high }
  }
  const [truePass, trueFail] = [rateOf(true), rateOf(false)]
  const disagreements = counted.filter(({ label, verdict }) => label.hasPassed !== verdict.hasPassed)
  return {
    ...{ truePass, trueFail, isShown: isShown(truePass) && isShown(trueFail) },
    beforeEdit: answers.length - counted.length,
    disagreements: disagreements.slice(0, mostDisagreements),
  }
}

function isShown({ labeled, rate }: AgreementRate): boolean {
  return labeled >= shownAgreement.labels && rate !== null && rate >= shownAgreement.rate
}
