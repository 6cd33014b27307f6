import { expect, it } from 'vitest'
import { agreementOf, type JudgedAnswer } from './agreement.ts'

const edited = new Date('2026-01-02T00:00:00Z')
const [before, after] = [new Date('2026-01-01T00:00:00Z'), edited]

/** `PF`: a person passed the answer, the judge failed it. */
function answersOf(pairs: Record<string, number>, createdAt = after): JudgedAnswer[] {
  return Object.entries(pairs).flatMap(([pair, times]) =>
    Array.from({ length: times }, (_, index) => ({
      conversationUuid: `${pair}${index}`,
      label: { hasPassed: pair[0] === 'P', reason: null, author: null, createdAt },
      verdict: { hasPassed: pair[1] === 'P', reason: null },
    })),
  )
}

it.each<[Record<string, number>, truePass: [number, number], trueFail: [number, number], isShown: boolean]>([
  [{}, [0, 0], [0, 0], false],
  [{ PP: 10, FF: 10 }, [10, 10], [10, 10], true],
  [{ PP: 8, PF: 2, FF: 8, FP: 2 }, [8, 10], [8, 10], true],
  [{ PP: 7, PF: 3, FF: 10 }, [7, 10], [10, 10], false],
  [{ PP: 10, FF: 7, FP: 3 }, [10, 10], [7, 10], false],
  [{ PP: 9, FF: 10 }, [9, 9], [10, 10], false],
  [{ PP: 10, FF: 9 }, [10, 10], [9, 9], false],
  [{ PP: 40, PF: 10, FF: 24, FP: 6 }, [40, 50], [24, 30], true],
  [{ PP: 100 }, [100, 100], [0, 0], false],
])('%j', (pairs, [passAgreed, passes], [failAgreed, fails], isShown) => {
  const { truePass, trueFail, ...found } = agreementOf(answersOf(pairs), edited)
  expect([truePass.agreed, truePass.labeled]).toEqual([passAgreed, passes])
  expect([trueFail.agreed, trueFail.labeled]).toEqual([failAgreed, fails])
  expect(found).toMatchObject({ isShown, beforeEdit: 0 })
  expect(found.disagreements.length).toBe((pairs['PF'] ?? 0) + (pairs['FP'] ?? 0))
})

it('has a wide interval for few labels, and no rate without them', () => {
  const { truePass, trueFail } = agreementOf(answersOf({ PP: 9, PF: 1 }), null)
  expect(truePass).toMatchObject({ rate: 0.9, low: expect.closeTo(0.596, 3), high: expect.closeTo(0.982, 3) })
  expect(trueFail).toEqual({ labeled: 0, agreed: 0, rate: null, low: 0, high: 1 })
})

it('does not count labels that were made before the last edit', () => {
  const answers = [...answersOf({ PP: 10, FF: 10, PF: 5 }, before), ...answersOf({ PP: 2, FP: 1 })]
  expect(agreementOf(answers, edited)).toMatchObject({
    ...{ truePass: { labeled: 2 }, trueFail: { labeled: 1 }, isShown: false, beforeEdit: 25 },
    disagreements: [{ conversationUuid: 'FP0' }],
  })
  expect(agreementOf(answers, null)).toMatchObject({ beforeEdit: 0, truePass: { labeled: 17 } })
})

it('lists at most 100 disagreements', () => {
  expect(agreementOf(answersOf({ PF: 101 }), null).disagreements.length).toBe(100)
})
