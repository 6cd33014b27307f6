-- CreateTable
CREATE TABLE "tool_call" (
    "id" TEXT NOT NULL,
    "workspace_id" INTEGER NOT NULL,
    "project_id" INTEGER NOT NULL,
    "run_uuid" UUID NOT NULL,
    "state" TEXT NOT NULL,
    "result" TEXT,
    "is_error" BOOLEAN NOT NULL DEFAULT false,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "answered_at" TIMESTAMPTZ(3),

    CONSTRAINT "tool_call_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "tool_call_run_uuid_idx" ON "tool_call"("run_uuid");

-- AddForeignKey
ALTER TABLE "tool_call" ADD CONSTRAINT "tool_call_run_uuid_fkey" FOREIGN KEY ("run_uuid") REFERENCES "run"("uuid") ON DELETE CASCADE ON UPDATE CASCADE;
