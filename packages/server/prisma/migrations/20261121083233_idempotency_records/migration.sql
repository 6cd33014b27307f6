-- CreateTable
CREATE TABLE "idempotency_record" (
    "id" TEXT NOT NULL,
    "request_hash" TEXT NOT NULL,
    "owner_id" TEXT NOT NULL,
    "conversation_uuid" UUID,
    "run_uuid" UUID,
    "answer" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "idempotency_record_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "idempotency_record_created_at_idx" ON "idempotency_record"("created_at");
