import type { GoTo } from '../text/line-ends.ts'
import css from './editor.module.css'
import type { FoundIssues } from './use-issues.ts'

interface IssueListProps {
  issues: FoundIssues['issues']
  /** The path of the open prompt. An issue of another one cannot be selected here. */
  path: string
  onSelect: GoTo
}

/** What keeps the prompt from compiling, with positions. */
export function IssueList({ issues, path, onSelect }: IssueListProps) {
  if (issues.length === 0) return null
  return (
    <section className={css['issues']} aria-label="Errors">
      <ul>
        {issues.map((issue) => {
          const { path: of = path, line, column, message } = issue
          return (
            <li key={`${of} ${line} ${column} ${message}`}>
              <button
                type="button"
                className={css['issue']}
                aria-disabled={of !== path || undefined}
                onClick={() => of === path && onSelect(issue)}
              >
                <span className={css['issuePlace']}>
                  {of !== path && `${of}:`}
                  {line}:{column}
                </span>
                <span>{message}</span>
              </button>
            </li>
          )
        })}
      </ul>
    </section>
  )
}
