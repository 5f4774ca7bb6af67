"""What went wrong on iWARP connections: broken rules, the first of each connection before what it drew after it."""
