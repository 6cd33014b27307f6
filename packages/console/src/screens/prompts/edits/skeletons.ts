/** The texts that a new prompt can start from. They name no provider, so the one that is configured answers. */
export const skeletons = [
  {
    name: 'Reply',
    hint: 'Answers a message in text.',
    text: `---
parameters:
  message: { type: text, required: true, description: Message of the customer }
---
Answer in at most three short sentences. If you do not know the answer, say so.
<user>
{{ message }}
</user>
`,
  },
  {
    name: 'Classify',
    hint: 'Answers with JSON of a schema.',
    text: `---
parameters:
  message: { type: text, required: true, description: Message of the customer }
schema:
  type: object
  properties:
    label: { type: string, enum: [question, complaint, praise, other] }
    reason: { type: string }
  required: [label, reason]
  additionalProperties: false
---
Classify the message, and give the reason in one sentence.
<user>
{{ message }}
</user>
`,
  },
  {
    name: 'Agent',
    hint: 'Calls tools until the task is done.',
    text: `---
type: agent
maxSteps: 10
parameters:
  task: { type: text, required: true, description: Task for the agent }
tools:
  find_order:
    description: Finds an order by its number
    parameters:
      type: object
      properties:
        number: { type: string }
      required: [number]
      additionalProperties: false
---
Do the task. Look up an order before you say anything about it.
<user>
{{ task }}
</user>
`,
  },
] as const
