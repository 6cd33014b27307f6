import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Failure } from '../../app/failure.tsx'
import css from '../../grid/grid.module.css'
import { AnswerText } from '../../runs/output/answer-text.tsx'
import { MessageBody } from '../../ui/message-body.tsx'
import { Skeleton } from '../../ui/states.tsx'
import { answerOf, conversationQuery, runQuery } from './queries.ts'

/** One answer, and beside it what it answers to. */
export function CaseView({ conversationUuid }: { conversationUuid: string }) {
  const run = useQuery(runQuery(conversationUuid))
  const conversation = useQuery(conversationQuery(conversationUuid))
  const error = run.error ?? conversation.error
  if (error) return <Failure error={error} what="The answer could not be loaded" />
  if (!run.data || !conversation.data) return <Skeleton lines={6} />
  const { parameters, path } = run.data
  const inputs = Object.entries(parameters ?? {})
  const asked = conversation.data.conversation.findLast(({ role }) => role === 'user')
  return (
    <div className={css['case']}>
      <section aria-label="Answer">
        <AnswerText text={answerOf(conversation.data.conversation)} isRaw={false} />
      </section>
      <aside className={css['stack']} aria-label="Inputs">
        <p className={css['quiet']}>
          <Link to="/runs/$run" params={{ run: conversationUuid }}>
            {path}
          </Link>
        </p>
        {inputs.map(([name, value]) => (
          <div key={name}>
            <h2>{name}</h2>
            <MessageBody text={typeof value === 'string' ? value : JSON.stringify(value, null, 2)} />
          </div>
        ))}
        {inputs.length === 0 && asked && <MessageBody text={answerOf([asked])} />}
      </aside>
    </div>
  )
}
