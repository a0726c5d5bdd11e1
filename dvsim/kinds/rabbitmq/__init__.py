"""Systems with RabbitMQ brokers: their files and what must hold in them."""
