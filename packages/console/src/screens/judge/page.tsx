import type { AgreementRate } from '@stet/contract/vocabulary'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { Failure } from '../../app/failure.tsx'
import css from '../../grid/grid.module.css'
import { evaluationQuery } from '../../grid/labels.ts'
import { buttonClass } from '../../ui/button.tsx'
import { withSigns } from '../../ui/hidden-characters.ts'
import { Screen, ScreenTitle } from '../../ui/screen.tsx'
import { Notice, Skeleton } from '../../ui/states.tsx'
import { Table } from '../../ui/table.tsx'
import { counted } from '../../ui/time.tsx'
import { agreementQuery, judgePromptQuery } from './queries.ts'

const route = getRouteApi('/shell/p/$project/judges/$evaluation')

/** A judge counts from so many labels of each kind on, if it agrees with this share of them. */
const wanted = { labels: 10, rate: 0.8 }

/** How often a judge agrees with people, and where it does not. */
export function JudgePage() {
  const { project, evaluation: uuid } = route.useParams()
  const { data: judge, error } = useQuery(evaluationQuery(uuid))
  const { data: prompt } = useQuery(judgePromptQuery(Number(project), judge?.judgeDocumentUuid ?? null))
  return (
    <Screen narrow>
      <title>{judge ? `${judge.name} · judge · stet` : 'Judge · stet'}</title>
      <ScreenTitle
        beside={
          <span className={css['flow']}>
            {prompt && (
              <Link
                className={buttonClass()}
                to="/p/$project/v/$version/prompts/$"
                params={{ project, version: prompt.version, _splat: prompt.path }}
              >
                Edit the judge
              </Link>
            )}
            <Link
              className={buttonClass({ look: 'primary' })}
              to="/p/$project/queue/$evaluation"
              params={{ project, evaluation: uuid }}
            >
              Label answers
            </Link>
          </span>
        }
      >
        {judge ? judge.name : 'Judge'}
      </ScreenTitle>
      {error && <Failure error={error} what="The judge could not be loaded" />}
      <AgreementPart uuid={uuid} />
    </Screen>
  )
}

function AgreementPart({ uuid }: { uuid: string }) {
  const { data, error, refetch } = useQuery(agreementQuery(uuid))
  if (error) return <Failure error={error} what="The agreement could not be loaded" onRetry={() => void refetch()} />
  if (!data) return <Skeleton lines={5} />
  const { truePass, trueFail, isShown, beforeEdit, disagreements } = data
  return (
    <>
      {isShown ? (
        <Notice tone="blue">This judge agrees with people, so its verdicts count.</Notice>
      ) : (
        <Notice tone="amber">
          <strong>Not validated</strong>: {missingText(truePass, 'passes')}; {missingText(trueFail, 'fails')}. Until
          then its verdicts inform only.
        </Notice>
      )}
      <Table label="Agreement" head={['People say', 'Judge passes', 'Judge fails', 'Agreement', '95 % interval']}>
        <RateRow name="right" rate={truePass} passes={truePass.agreed} />
        <RateRow name="wrong" rate={trueFail} passes={trueFail.labeled - trueFail.agreed} />
      </Table>
      <p className={css['quiet']}>
        With {wanted.labels} labels the interval is wide: 9 of 10 is anything from 60 % to 98 %.
        {beforeEdit > 0 &&
          ` ${counted(beforeEdit, 'label was', 'labels were')} made before the last edit of the judge and ${beforeEdit === 1 ? 'does' : 'do'} not count.`}
      </p>
      {disagreements.length > 0 && (
        <Table
          label={counted(disagreements.length, 'disagreement')}
          head={['Reason of the judge', 'People', 'Judge', 'Run']}
        >
          {disagreements.map(({ conversationUuid, label, verdict }) => (
            <tr key={conversationUuid}>
              <td className={css['wrap']}>{withSigns(verdict.reason ?? 'No reason')}</td>
              <td>
                {label.hasPassed ? 'right' : 'wrong'}
                {label.author && <span className={css['quiet']}> {withSigns(label.author.name)}</span>}
              </td>
              <td>{verdict.hasPassed ? 'passes' : 'fails'}</td>
              <td>
                <Link to="/runs/$run" params={{ run: conversationUuid }}>
                  {conversationUuid.slice(0, 8)}
                </Link>
              </td>
            </tr>
          ))}
        </Table>
      )}
    </>
  )
}

interface RateRowProps {
  name: string
  rate: AgreementRate
  /** How many of these answers the judge passes. */
  passes: number
}

function RateRow({ name, rate: { labeled, rate, low, high }, passes }: RateRowProps) {
  return (
    <tr>
      <td>{name}</td>
      <td>{passes}</td>
      <td>{labeled - passes}</td>
      <td>{rate === null ? 'no labels' : percent(rate)}</td>
      <td>{rate !== null && `${percent(low)} to ${percent(high)}`}</td>
    </tr>
  )
}

/** "6 of 10 fails labeled", or with how many of them the judge agrees. */
function missingText({ labeled, rate }: AgreementRate, nouns: string): string {
  if (labeled < wanted.labels) return `${labeled} of ${wanted.labels} ${nouns} labeled`
  const share = rate ?? 0
  return `it agrees with ${percent(share)} of ${labeled} ${nouns}${share < wanted.rate ? ', which is below 80 %' : ''}`
}

function percent(share: number): string {
  return `${Math.round(share * 100)} %`
}
