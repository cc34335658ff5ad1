__thread int near = 5;
